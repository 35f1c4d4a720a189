package org.apache.spark.sql.delta.upkeep.state

import scala.util.Using

import io.deltaupkeep.{SideBySide, UnreadableInput}

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFiles, CheckpointRows}
import org.apache.spark.sql.delta.upkeep.spark.ParquetColumns
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.types.StructType

/**
 * Reads the files of a table's checkpoint on the driver, in either format.
 *
 * @param columns of Parquet files; rows of JSON files are in those of [[CommitParser.Schema]]
 * @param wanted  if few rows are wanted: some of the columns, and what tells by them whether a row may be. Others may come too.
 */
private[upkeep] final class CheckpointActions(
    handle: DeltaHandle,
    columns: StructType,
    wanted: Option[(StructType, InternalRow => Boolean)] = None
) {
  import CheckpointActions._

  private lazy val byRows = new CheckpointRows(columns, handle.session, handle.hadoopConf)

  /**
   * Has threads read the files, in parts of about the same size.
   *
   * @param fold takes a file, and a function that calls another one with each row of a part of it. A row is valid until
   *             the next one.
   * @return its results
   * @throws io.deltaupkeep.UnreadableInput a file is missing or damaged
   */
  def parts[A](files: Seq[FileStatus])(fold: (FileStatus, (InternalRow => Unit) => Unit) => A): Seq[A] =
    SideBySide.map(files.flatMap(partsOf), "delta-upkeep-checkpoint", Threads) { part =>
      handle.session.withActive(UnreadableInput.naming(part.file.getPath.toString) {
        fold(part.file, foreach(part))
      })
    }

  private def foreach(part: Part)(use: InternalRow => Unit): Unit =
    if (CheckpointFiles.isJson(part.file)) {
      val parser = new CommitParser(handle.hadoopConf, handle.session.sessionState.conf)
      CommitSplit.of(part.file).foreach(parser.foreach(_)(use))
    } else
      Using.resource(new ParquetColumns(part.file, handle.hadoopConf)) { opened =>
        opened.find(columns) match {
          case Some(found) =>
            val test = for ((some, test) <- wanted; keys <- opened.find(some)) yield keys.where(_: Int)(test)
            (part.number until found.rowGroups by part.parts).foreach { i =>
              test.fold(found.foreach(i)(use))(rows => found.foreach(i, rows(i))(use))
            }
          // Which does not tell the row groups apart.
          case None => if (part.number == 0) byRows.in(part.file).foreach(use)
        }
      }
}

private object CheckpointActions {

  /** As many as there are processors, and a few that wait for a store. */
  private val Threads = math.min(8, 2 * Runtime.getRuntime.availableProcessors)

  /** To open a file takes two requests, in which many bytes would be read. */
  private val PartBytes = 16L << 20

  /** Some of the row groups of a file. */
  private final case class Part(file: FileStatus, number: Int, parts: Int)

  private def partsOf(file: FileStatus): Seq[Part] = {
    val parts = if (CheckpointFiles.isJson(file)) 1 else math.min(Threads, 1 + file.getLen / PartBytes).toInt
    (0 until parts).map(Part(file, _, parts))
  }
}
