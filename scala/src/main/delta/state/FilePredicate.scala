package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.catalyst.expressions.Expression

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
}
