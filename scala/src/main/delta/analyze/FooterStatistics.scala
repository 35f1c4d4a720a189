package org.apache.spark.sql.delta.upkeep.analyze

import io.deltaupkeep.{CountText, UnreadableInput}
import io.deltaupkeep.parquet.file.FileFooters
import io.deltaupkeep.stats.CertainStats

import org.apache.spark.sql.delta.IdMapping
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.splice.{FileJob, HadoopInput, SpliceInput}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, PhysicalSchema, SessionCopy}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Makes statistics of files from their footers, as far as these are certain. One Spark job reads the footers, another one
 * has Delta's collector write their bounds as it writes those of rows.
 */
private[analyze] final class FooterStatistics(handle: DeltaHandle, columns: Seq[Seq[String]]) {
  private val snapshot = handle.snapshot
  private val metadata = snapshot.metadata
  private val schema = PhysicalSchema.of(metadata.dataSchema, metadata)
  private val certain = {
    val haveDefault = metadata.dataSchema.zip(schema).collect {
      case (field, physical) if field.getExistenceDefaultValue().nonEmpty => physical.name
    }
    new CertainStats(schema, columns, haveDefault.toSet)
  }
  private lazy val own = SessionCopy.of(handle.session) { conf =>
    StatsCollection.Settings.foreach { case (key, value) => conf.setConfString(key, value) }
  }

  /** What is certain of each file; files whose footers cannot be read are not in it. */
  def of(files: Seq[AddFile]): Map[AddFile, CertainStats.OfFile] =
    // Files may have other names for columns.
    if (metadata.columnMappingMode == IdMapping) Map.empty
    else files.zip(run(files.map(add =>
      SpliceInput.of(handle.path, add.path, add.size, add.modificationTime)
    ))).collect { case (file, Some(found)) => file -> found }.toMap

  /** The bounds of files as JSON, each with the number of rows and nulls of two rows. */
  def bounds(files: Seq[CertainStats.OfFile]): Seq[String] =
    if (files.isEmpty) Nil
    else
      own.withActive {
        val rows = files.zipWithIndex.flatMap { case (file, i) =>
          certain.rowsOf(file, UTF8String.fromString(i.toString))
        }
        val frame = own.internalCreateDataFrame(
          own.sparkContext.parallelize(rows),
          schema.add(StatsCollection.FileName, StringType)
        )
        val found = StatsCollection.byFile(snapshot, frame)
        files.indices.map(i => found(i.toString))
      }

  private def run(files: Seq[SpliceInput]): Seq[Option[CertainStats.OfFile]] = {
    val description = s"ANALYZE ${handle.name}: footers of ${CountText.of(files.size, "file")}"
    val certain = this.certain
    new FileJob(handle).map(files, description, "delta-upkeep-analyze") { () =>
      val footers = new FileFooters
      // Reading the rows tells what is wrong with a file.
      (file, conf) =>
        try footers.of(new HadoopInput(file, HadoopInput.RandomAccess, conf)).toOption.map(certain.of)
        catch { case _: UnreadableInput => None }
    }
  }
}
