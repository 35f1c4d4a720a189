package io.deltaupkeep.parquet.page

import org.apache.parquet.column.ColumnDescriptor

/**
 * Maps the levels of a column in a file to levels in the output. They differ if a field is required in one
 * and optional in the other, or if the file lacks the column and takes its shape from a neighbour.
 *
 * @param definition    output level for each level of the file
 * @param maxRepetition higher levels of the file belong to a list that the output column is not part of; they
 *                      are left out
 */
private[parquet] final case class LevelMap(definition: IndexedSeq[Int], maxRepetition: Int) {

  /** Whether every level stays as it is. */
  val isIdentity: Boolean = definition.indices.forall(i => definition(i) == i)

  private val table = definition.toArray

  def of(level: Int): Int = table(level)
}

private[parquet] object LevelMap {

  /** For values stored as in the output. */
  def identity(column: ColumnDescriptor): LevelMap =
    LevelMap(0 to column.getMaxDefinitionLevel, column.getMaxRepetitionLevel)
}
