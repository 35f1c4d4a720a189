package org.apache.spark.sql.delta.upkeep.analyze

import scala.util.control.NonFatal

import io.deltaupkeep.{UnreadableInput, UpkeepException}
import io.deltaupkeep.stats.CertainStats
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.read.FilePaths
import org.apache.spark.sql.delta.upkeep.rewrite.StoredRows
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures, PhysicalSchema}
import org.apache.spark.sql.delta.upkeep.versions.NewFile
import org.apache.spark.sql.functions.{col, input_file_name}
import org.apache.spark.sql.types.StructType

/** Makes the statistics of files as Delta's writer makes them, by reading their rows. */
private[analyze] final class ReadStatistics(handle: DeltaHandle) {
  import ReadStatistics._

  private val snapshot = handle.snapshot
  private val metadata = snapshot.metadata
  private val root = snapshot.deltaLog.dataPath.toString
  private val stored = new StoredRows(snapshot, handle.session, settings = StatsCollection.Settings)
  private var unreadable = 0

  /**
   * The statistics of each file, as JSON, or why it cannot be read. They count rows that a deletion vector hides. A job
   * that meets a file that it cannot read is done again in two halves.
   *
   * @param columns of the table that are read, by their physical names; others are null
   * @throws io.deltaupkeep.UpkeepException too many files cannot be read
   */
  def of(files: Seq[AddFile], columns: Set[String]): Map[AddFile, Either[UpkeepException, String]] =
    try readable(files, columns).map { case (file, stats) => file -> Right(stats) }
    catch {
      case NonFatal(failure) if files.size > 1 && isOfFile(failure) =>
        val (first, second) = files.splitAt(files.size / 2)
        of(first, columns) ++ of(second, columns)
      case NonFatal(failure) if files.size == 1 =>
        // Spark 3.5 does not always name the file.
        val named = new UnreadableInput(absolute(files.head.path), failure, ofSplice = false)
        val error = errorOf(named).getOrElse(throw failure)
        unreadable += 1
        if (unreadable > MostUnreadable) throw error
        Map(files.head -> Left(error))
    }

  private def isOfFile(failure: Throwable): Boolean =
    errorOf(failure).nonEmpty || InputFailures.damageOf(failure).nonEmpty || InputFailures.isOfValue(failure)

  private def errorOf(failure: Throwable): Option[UpkeepException] =
    InputFailures.named(Statement, handle.table, failure)

  private def readable(files: Seq[AddFile], columns: Set[String]): Map[AddFile, String] =
    handle.session.withActive {
      val byName = files.map(file => absolute(file.path) -> file).toMap
      val found = StatsCollection.byFile(snapshot, ofFiles(files, columns))
        .map { case (name, stats) => byName(absolute(name)) -> stats }
      files.map(file => file -> found.getOrElse(file, CertainStats.NoRows)).toMap
    }

  /** The data columns by their physical names, and the name of the file. */
  private def ofFiles(files: Seq[AddFile], asked: Set[String]): DataFrame = {
    val rows = stored.of(files.map(NewFile.changed(_)(deletionVector = null)))
    val isOfData = metadata.dataSchema.fieldNames.toSet
    val logical = StructType(rows.schema.filter(field => isOfData(field.name)))
    val physical = PhysicalSchema.of(logical, metadata)
    val columns = logical.zip(physical).filter { case (_, to) => asked(to.name) }.map { case (from, to) =>
      val column = col(s"`${from.name.replace("`", "``")}`")
      // A cast of structs goes by position.
      (if (from.dataType == to.dataType) column else column.cast(to.dataType)).as(to.name)
    }
    rows.select(columns :+ input_file_name().as(StatsCollection.FileName): _*)
  }

  private def absolute(path: String): String = FilePaths.absolute(root, path)
}

private object ReadStatistics {
  private val Statement = "ANALYZE"

  /** More of them have one cause, and each takes several jobs. */
  private val MostUnreadable = 100
}
