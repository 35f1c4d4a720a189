package org.apache.spark.sql.delta.upkeep.optimize

import scala.collection.mutable

import io.deltaupkeep.plan.cluster.{ClusterQuality, ClusteredBy, ClusteredFile}
import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.stats.KeyBounds

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * How well the files of a table are clustered, by their tags and statistics. A table without CLUSTER BY is judged by the
 * columns that most bytes are in Z-order by, and only in partitions with such files.
 */
final class Clustering(table: DeltaHandle, files: SelectedFiles) {
  private val isLiquid = table.facts.clusteringColumns.nonEmpty
  private val dataFiles = files.files.toIndexedSeq
  private val adds = dataFiles.map(files.actionOf)
  private val keysOfText = mutable.Map.empty[String, Seq[KeyColumn]]
  private val tagOf: IndexedSeq[Option[String]] = adds.map { add =>
    Option(add.tags).flatMap(_.get(if (isLiquid) AddFile.Tags.ZCUBE_ZORDER_BY.name else DataFile.ZOrderTag))
  }
  private val keysOf: IndexedSeq[Seq[KeyColumn]] = tagOf.map(_.fold(Seq.empty[KeyColumn]) { text =>
    keysOfText.getOrElseUpdate(text, KeyColumn.inTag(table, text))
  })
  private val keys: Seq[KeyColumn] =
    if (isLiquid) KeyColumn.named(table, table.facts.clusteringColumns)
    else {
      val bytes = keysOf.zip(adds).groupMapReduce(_._1)(_._2.size)(_ + _) - Nil
      if (bytes.isEmpty) Nil else bytes.maxBy { case (keys, size) => (size, keys.map(_.name).mkString) }._1
    }

  /** None if the table has no order that is known, or no files. */
  def quality: Option[ClusterQuality] = if (keys.isEmpty) None else judged

  private def judged: Option[ClusterQuality] = {
    val all = dataFiles.indices.map(i => i -> ClusteredFile(dataFiles(i).partition, adds(i).size, stateOf(i)))
    val inOrder = all.collect { case (_, file) if file.by == ClusteredBy.TheseKeys => file.partition }.toSet
    val some = if (isLiquid) all else all.filter { case (_, file) => inOrder(file.partition) }
    Option.when(some.nonEmpty) {
      val bounds =
        KeyBounds.of(keys.map(key => key.path -> key.dataType), some.map { case (i, _) => adds(i).stats })
      ClusterQuality.of(some.map(_._2), keys.map(_.name).zip(bounds))
    }
  }

  /** OPTIMIZE leaves files of other providers alone, and those clustered by columns that are gone. */
  private def stateOf(i: Int): ClusteredBy = {
    val isForeign = isLiquid &&
      (adds(i).clusteringProvider.exists(_ != ClusteredTableUtils.clusteringProvider) ||
        tagOf(i).nonEmpty && keysOf(i).isEmpty)
    if (keysOf(i).isEmpty && !isForeign) ClusteredBy.Nothing
    else if (keysOf(i) == keys && !isForeign) ClusteredBy.TheseKeys
    else ClusteredBy.OtherKeys
  }
}
