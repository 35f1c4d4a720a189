package org.apache.spark.sql.delta.upkeep.optimize

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.JsonUtils

/**
 * The tags of files that are in Z-order. Delta has tags for this, but where a table gets CLUSTER BY later, its OPTIMIZE takes
 * files with them for clustered ones, and leaves them alone.
 */
private[optimize] final class ZOrderTags(table: DeltaHandle, columns: Seq[String]) {
  import ZOrderTags._

  private val keys = KeyColumn.named(table, columns)
  private val isSame = mutable.Map.empty[String, Boolean]

  /** For the files of one bin. */
  def newCube(): AddFile => AddFile = {
    val tags = Map(Columns -> JsonUtils.toJson(columns), Cube -> UUID.randomUUID.toString)
    _.copyWithTags(tags)
  }

  /** The files that a file was put in this order with. Those of earlier versions of ours are not told apart. */
  def cubeOf(add: AddFile): Option[String] =
    for {
      tags <- Option(add.tags)
      text <- tags.get(Columns)
      if isSame.getOrElseUpdate(text, KeyColumn.inTag(table, text) == keys)
    } yield tags.getOrElse(Cube, "")
}

private[optimize] object ZOrderTags {

  /** As JSON. */
  val Columns = "deltaUpkeep.zOrderBy"

  private val Cube = "deltaUpkeep.zOrderCube"
}
