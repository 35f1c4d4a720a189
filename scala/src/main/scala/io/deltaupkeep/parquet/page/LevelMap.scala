package io.deltaupkeep.parquet.page

/**
 * How levels of a column in a file become levels in the output. They differ where a field is required in one
 * and optional in the other, and where a column that the file lacks takes its shape from a neighbour.
 *
 * @param definition    output level for each level of the file
 * @param maxRepetition levels of the file above it belong to a list that the output column is not part of:
 *                      they are left out
 */
private[parquet] final case class LevelMap(definition: IndexedSeq[Int], maxRepetition: Int) {

  /** Whether every level stays as it is. */
  val isIdentity: Boolean = definition.indices.forall(i => definition(i) == i)

  private val table = definition.toArray

  def of(level: Int): Int = table(level)
}
