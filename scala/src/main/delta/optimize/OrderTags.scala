package org.apache.spark.sql.delta.upkeep.optimize

import java.util.UUID

import scala.collection.mutable

import io.deltaupkeep.plan.compact.DataFile

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * The tags of files that ZORDER BY or ORDER BY has put in order. Delta has tags for this, but where a table gets CLUSTER BY
 * later, its OPTIMIZE takes files with them for clustered ones, and leaves them alone.
 *
 * @param tag that has the keys
 */
private[optimize] final class OrderTags(
    table: DeltaHandle,
    tag: String,
    columns: Seq[String],
    descending: Seq[Boolean]
) {
  private val order = TaggedOrder(tag, KeyColumn.named(table, columns), descending)
  private lazy val text = TaggedOrder.textOf(order.keys, descending)
  private val isSame = mutable.Map.empty[String, Boolean]

  /** For the files of one bin. */
  def newCube(): AddFile => AddFile = {
    val tags = Map(tag -> text, DataFile.CubeTag -> UUID.randomUUID.toString)
    _.copyWithTags(tags)
  }

  /** Whether a file that was put in order was put in this one. */
  def isOf(add: AddFile): Boolean = Option(add.tags).flatMap(_.get(tag)).exists { text =>
    isSame.getOrElseUpdate(text, TaggedOrder.of(table, tag, text).isSame(order))
  }
}
