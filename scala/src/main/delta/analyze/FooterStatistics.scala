package org.apache.spark.sql.delta.upkeep.analyze

import io.deltaupkeep.{CountText, UnreadableInput}
import io.deltaupkeep.parquet.file.FileFooters
import io.deltaupkeep.stats.CertainStats

import org.apache.spark.sql.delta.IdMapping
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.spark.FileJob
import org.apache.spark.sql.delta.upkeep.splice.{HadoopInput, SpliceInput}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, PhysicalSchema, SessionCopy}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Makes statistics of files from their footers, as far as these are certain. One Spark job reads the footers, another one
 * has Delta's collector write their bounds as it writes those of rows.
 */
private[analyze] final class FooterStatistics(handle: DeltaHandle, columns: Seq[Seq[String]]) {
  import FooterStatistics._

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
  def of(files: Seq[AddFile]): Map[AddFile, FromFooter] =
    // Files may have other names for columns.
    if (metadata.columnMappingMode == IdMapping) Map.empty
    else files.grouped(FilesAtATime).flatMap(ofSome).toMap

  private def ofSome(files: Seq[AddFile]): Seq[(AddFile, FromFooter)] = {
    val read = files.zip(run(files)).collect { case (file, Some(found)) => file -> found }
    read.zip(bounds(read.map(_._2))).map { case ((file, found), text) =>
      file -> FromFooter(found.withoutBounds, text)
    }
  }

  /** The bounds of files as JSON, each with the number of rows and nulls of two rows. */
  private def bounds(files: Seq[CertainStats.OfFile]): Seq[String] =
    if (files.isEmpty) Nil
    else
      own.withActive {
        val rows = files.zipWithIndex.flatMap { case (file, i) =>
          certain.rowsOf(file, UTF8String.fromString(i.toString))
        }
        val tasks = math.max(own.sparkContext.defaultParallelism, rows.size / RowsOfTask)
        val frame = own.internalCreateDataFrame(
          own.sparkContext.parallelize(rows, tasks),
          schema.add(StatsCollection.FileName, StringType)
        )
        val found = StatsCollection.byFile(snapshot, frame)
        files.indices.map(i => found(i.toString))
      }

  private def run(files: Seq[AddFile]): Seq[Option[CertainStats.OfFile]] = {
    val description = s"ANALYZE ${handle.name}: footers of ${CountText.of(files.size, "file")}"
    val certain = this.certain
    val inputs = files.map(add => SpliceInput.of(handle.path, add.path, add.size, add.modificationTime))
    new FileJob(handle.session.sparkContext, handle.hadoopConf).map(
      inputs,
      description,
      "delta-upkeep-analyze"
    ) { () =>
      val footers = new FileFooters
      // Reading the rows tells what is wrong with a file.
      (file, conf) =>
        try footers.columns(new HadoopInput(file, HadoopInput.RandomAccess, conf)).toOption.map(certain.of)
        catch { case _: UnreadableInput => None }
    }
  }
}

private[analyze] object FooterStatistics {

  /** @param bounds as Delta's collector writes them */
  final case class FromFooter(certain: CertainStats.OfFile, bounds: String) {

    /** @param read the statistics of the rows, for what is uncertain */
    def json(read: Option[String]): String = certain.json(bounds, read)
  }

  /** A bound may have 4 KB, and the driver holds those of all columns. */
  private val FilesAtATime = 2000

  /** Spark sends the rows of a task in one message. */
  private val RowsOfTask = 500
}
