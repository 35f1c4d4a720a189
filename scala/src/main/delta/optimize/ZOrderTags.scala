package org.apache.spark.sql.delta.upkeep.optimize

import java.util.UUID

import scala.collection.mutable

import io.deltaupkeep.plan.compact.DataFile.{ZOrderCubeTag, ZOrderTag}

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.JsonUtils

/**
 * The tags of files that are in Z-order. Delta has tags for this, but where a table gets CLUSTER BY later, its OPTIMIZE takes
 * files with them for clustered ones, and leaves them alone.
 */
private[optimize] final class ZOrderTags(table: DeltaHandle, columns: Seq[String]) {

  private val keys = KeyColumn.named(table, columns)
  private val isSame = mutable.Map.empty[String, Boolean]

  /** For the files of one bin. */
  def newCube(): AddFile => AddFile = {
    val tags = Map(ZOrderTag -> JsonUtils.toJson(columns), ZOrderCubeTag -> UUID.randomUUID.toString)
    _.copyWithTags(tags)
  }

  /** Whether a file that was put in order was put in this one. */
  def isOf(add: AddFile): Boolean = Option(add.tags).flatMap(_.get(ZOrderTag)).exists { text =>
    isSame.getOrElseUpdate(text, KeyColumn.inTag(table, text) == keys)
  }
}
