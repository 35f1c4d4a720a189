package org.apache.spark.sql.delta.upkeep.analyze

import io.deltaupkeep.UpkeepException
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, PhysicalSchema}

/**
 * Makes the statistics of files: from their footers where these are certain. Of the columns of which they are not, the
 * rows are read.
 */
private[analyze] final class FileStatistics(handle: DeltaHandle) {
  import FileStatistics._

  private val metadata = handle.snapshot.metadata
  private val merged = new MergedStats(PhysicalSchema.of(metadata.dataSchema, metadata))
  private val columns = new CollectedColumns(handle).all
  private val footers = new FooterStatistics(handle, columns)
  private val rows = new ReadStatistics(handle)

  /**
   * The statistics of each file, as JSON, or why it cannot be read.
   *
   * @throws io.deltaupkeep.UpkeepException too many files cannot be read
   */
  def of(files: Seq[AddFile]): Map[AddFile, Either[UpkeepException, String]] = {
    val certain = footers.of(files)
    val read = columnsToRead(files, certain).flatMap { case (names, some) => rows.of(some, names) }
    files.map { file =>
      val stats = read.get(file).fold[Either[UpkeepException, Option[String]]](Right(None))(_.map(Some(_)))
      file -> stats.map { text =>
        ofFile(file, merged.certain(certain.get(file).fold(text.get)(_.json(text))))
      }
    }.toMap
  }

  /** The files by the columns of which rows have to be read. */
  private def columnsToRead(
      files: Seq[AddFile],
      certain: Map[AddFile, FooterStatistics.FromFooter]
  ): Map[Set[String], Seq[AddFile]] = {
    val all = columns.map(_.head).toSet
    val found = files.groupBy { file =>
      certain.get(file).fold(Option(all))(of => Some(of.certain.uncertain.map(_.head)).filter(_.nonEmpty))
    }.collect { case (Some(names), some) => names -> some }
    if (found.size <= MostJobs) found else Map(found.keys.reduce(_ ++ _) -> found.values.flatten.toSeq)
  }

  private def ofFile(file: AddFile, stats: String): String =
    if (file.deletionVector == null) stats else MergedStats.withWideBounds(stats).getOrElse(stats)
}

private object FileStatistics {

  /** Files of a table mostly lack the same columns. */
  private val MostJobs = 4
}
