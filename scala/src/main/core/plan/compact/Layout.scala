package io.deltaupkeep.plan.compact

/**
 * What OPTIMIZE does to the order of rows.
 *
 * @param statement what a user has typed
 * @param bySize    whether files are chosen by their sizes, so that any two of a partition may become one
 * @param reorders  whether rows are put in another order, with as many new files as the target size gives
 */
sealed abstract class Layout(
    val statement: String = "OPTIMIZE",
    val bySize: Boolean = false,
    val reorders: Boolean = false
) extends Serializable

object Layout {

  /** Small files are merged into large ones; rows keep their order. */
  case object Compact extends Layout(bySize = true)

  /**
   * Files with deleted rows or dropped columns are rewritten without them.
   *
   * @param oneByOne whether each becomes a file of its own, because the table is clustered; those in Z-order always do
   */
  final case class Purge(oneByOne: Boolean) extends Layout("REORG")

  /** The rows of a partition are put in the order of a Z-curve over the columns; `full` includes files that are in it. */
  final case class ZOrder(columns: Seq[String], full: Boolean) extends Layout(reorders = true)

  /**
   * The rows of a partition are sorted by columns; `full` as for Z-order.
   *
   * @param property of the table that says so, if no statement does
   */
  final case class Sort(
      columns: Seq[String],
      descending: Seq[Boolean],
      full: Boolean,
      property: Option[String] = None
  ) extends Layout(reorders = true)

  /** Liquid clustering by the table's own columns; `full` includes files clustered by other columns. */
  final case class Cluster(columns: Seq[String], full: Boolean) extends Layout(reorders = true)
}
