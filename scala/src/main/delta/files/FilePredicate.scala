package org.apache.spark.sql.delta.upkeep.files

import io.deltaupkeep.UpkeepErrors

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Which files of a table a statement takes.
 *
 * @param partition conditions on partition columns
 * @param data      conditions on other columns, as they were written: files without rows that meet them are left alone, as far as
 *                  their statistics tell
 * @param skipping  the same conditions as the filters of a query
 */
final case class FilePredicate(
    partition: Seq[Expression],
    data: Seq[Expression] = Nil,
    skipping: Seq[Expression] = Nil
) {
  def all: Seq[Expression] = partition ++ data
}

object FilePredicate {
  val none: FilePredicate = FilePredicate(Nil)

  /**
   * What a predicate selects of files that are known.
   *
   * @throws io.deltaupkeep.UpkeepException `INVALID_PREDICATE` if it fails for some file, such as `raise_error('')`
   */
  private[files] def evaluated[T](handle: DeltaHandle, predicate: Seq[Expression])(select: => T): T =
    try handle.session.withActive(select)
    catch {
      // In Spark 3.5 not every error is a SparkThrowable.
      case e: RuntimeException =>
        throw UpkeepErrors.invalidPredicate(predicate.map(_.sql).mkString(" AND "), e)
    }
}
