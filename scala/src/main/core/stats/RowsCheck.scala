package io.deltaupkeep.stats

import org.apache.spark.sql.types._

/**
 * Compares what the log says about files that were rewritten row by row with what it says about their inputs: the
 * number of rows, and for each column the null count and the bounds. It knows nothing about how rows are read and
 * written. Pure.
 */
object RowsCheck {

  /**
   * The first difference, as a sentence.
   *
   * @param before what the log says of the inputs
   * @param after  of the new files
   * @param both   of all of them together
   */
  def difference(
      before: MergedStats.Result,
      after: MergedStats.Result,
      both: MergedStats.Result
  ): Option[String] =
    RewriteCheck.rowDifference(before.rows, after.rows).orElse {
      val (written, all) = (columnsOf(after), columnsOf(both))
      before.columns.iterator.flatMap { column =>
        written.get(column.path).flatMap { now =>
          nullDifference(column, now).orElse(all.get(column.path).flatMap(boundsDifference(column, _)))
        }
      }.nextOption()
    }

  private def columnsOf(stats: MergedStats.Result): Map[List[String], MergedStats.Column] =
    stats.columns.map(column => column.path -> column).toMap

  private def nullDifference(before: MergedStats.Column, after: MergedStats.Column): Option[String] =
    for {
      expected <- before.stats.nullCount
      found <- after.stats.nullCount if expected != found
    } yield s"Column ${before.path.mkString(".")} has $expected nulls by the log, and $found in the new files."

  /** Only for values that the log writes exactly. Bounds of both together are those of the inputs. */
  private def boundsDifference(before: MergedStats.Column, both: MergedStats.Column): Option[String] =
    for {
      min <- before.stats.min if isExact(before.dataType)
      max <- before.stats.max
      least <- both.stats.min
      greatest <- both.stats.max if least != min || greatest != max
    } yield s"Column ${before.path.mkString(".")} has values from $min to $max by the log, and others in the new files."

  private def isExact(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | DateType => true
    case _ => false
  }
}
