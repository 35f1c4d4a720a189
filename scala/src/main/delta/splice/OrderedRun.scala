package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.parquet.cut.RowRanges
import io.deltaupkeep.parquet.footer.RowSelection
import io.deltaupkeep.parquet.gather.{FollowedFile, RowMarks}

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.delta.deletionvectors.{RoaringBitmapArray, RoaringBitmapArrayFormat}

/** What became of an input since it was read. */
sealed trait InputFate {

  /** The rows of it that are gone, and more that were gone before. */
  def marks(conf: Configuration): RowMarks = this match {
    case InputFate.Unchanged => RowMarks.NoRows
    case InputFate.Removed => RowMarks.AllRows
    case hidden: InputFate.Hidden => RowMarks.Dropped(hidden.rows(conf))
  }
}

object InputFate {
  case object Unchanged extends InputFate

  /** The table no longer has it: its rows are gone, or another file has them. */
  case object Removed extends InputFate

  /** It has a different deletion vector now, or none. */
  final case class Hidden(deleted: Option[DeletedRows]) extends InputFate {
    def rows(conf: Configuration): RowSelection = deleted.fold(RowSelection.none)(_.read(conf))
  }
}

/**
 * How the rows of a bin were put in order. The order itself is not kept: it would take several bytes for each row of every
 * bin, and hardly any bin needs it again.
 *
 * @param task   as it was run
 * @param ranges by which several tasks did it
 */
final case class OrderedRun(task: SpliceTask, ranges: Option[FoundRanges] = None)

/** @param rows of all ranges */
final case class FoundRanges(ranges: RowRanges, rows: Long)

/**
 * The marked rows of a new file.
 *
 * @param fingerprint of the order of its rows
 * @param rows        their number
 * @param bitmap      positions of the marked ones, as a deletion vector has them
 */
final case class MarkedFile(fingerprint: Long, rows: Long, bitmap: Array[Byte]) {
  def marked: RoaringBitmapArray = RoaringBitmapArray.readFrom(bitmap)
}

object MarkedFile {

  /** @param traced the fingerprint of the way of rows from the task's inputs to a file */
  def of(file: FollowedFile, traced: Long): MarkedFile = {
    val rows = new RoaringBitmapArray
    file.followed.marked.stream.forEach(row => rows.add(row.toLong))
    rows.runOptimize()
    MarkedFile(traced, file.rows, rows.serializeAsByteArray(RoaringBitmapArrayFormat.Portable))
  }
}
