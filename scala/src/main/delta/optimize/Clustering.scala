package org.apache.spark.sql.delta.upkeep.optimize

import scala.collection.mutable

import io.deltaupkeep.plan.cluster.{ClusterQuality, ClusteredBy, ClusteredFile, SampledRowGroup}
import io.deltaupkeep.plan.compact.{DataFile, Layout}
import io.deltaupkeep.stats.KeyBounds

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * How well the files of a table are clustered, by their tags and statistics. The order is that of CLUSTER BY or of the table's
 * property; else the one that most bytes are in, of ZORDER BY or ORDER BY, and only in partitions with such files.
 *
 * @param layout that OPTIMIZE without clauses gives the table
 */
final class Clustering private (table: DeltaHandle, files: SelectedFiles, layout: Layout) {
  private val isLiquid = layout.isInstanceOf[Layout.Cluster]
  private val dataFiles = files.files.toIndexedSeq
  private val adds = dataFiles.map(files.actionOf)
  private val tags =
    if (isLiquid) Seq(AddFile.Tags.ZCUBE_ZORDER_BY.name) else Seq(DataFile.ZOrderTag, DataFile.SortTag)
  private val known = mutable.Map.empty[(String, String), TaggedOrder]

  /** Of each file, if it has a tag. */
  private val orders: IndexedSeq[Option[TaggedOrder]] = adds.map { add =>
    for {
      all <- Option(add.tags)
      tag <- tags.find(all.contains)
    } yield known.getOrElseUpdate((tag, all(tag)), TaggedOrder.of(table, tag, all(tag)))
  }

  /** Of the whole table, whatever files it has. */
  private val declared: Option[TaggedOrder] = layout match {
    case Layout.Cluster(columns, _) => Some(TaggedOrder(tags.head, KeyColumn.named(table, columns), Nil))
    case sort: Layout.Sort =>
      Some(TaggedOrder(DataFile.SortTag, KeyColumn.named(table, sort.columns), sort.descending))
    case _ => None
  }

  private val order: Option[TaggedOrder] = declared
    .orElse {
      val bytes = orders.zip(adds).collect { case (Some(order), add) if order.isKnown => order -> add.size }
        .groupMapReduce(_._1)(_._2)(_ + _)
      bytes.maxByOption { case (order, size) => (size, order.clause) }.map(_._1)
    }
    .filter(_.isKnown)

  /**
   * None if the table has no order that is known, or no files.
   *
   * @param sample of the row groups of files, which Delta or this module has written
   */
  def quality(sample: Seq[DataFile] => Seq[SampledRowGroup]): Option[ClusterQuality] =
    for (order <- order; quality <- judged(order)) yield {
      val inOrder = dataFiles.indices.filter(stateOf(_, order) == ClusteredBy.TheseKeys).map(dataFiles)
      withRowGroups(order, sample(inOrder), quality)
    }

  private def withRowGroups(
      order: TaggedOrder,
      rowGroups: Seq[SampledRowGroup],
      quality: ClusterQuality
  ): ClusterQuality = {
    val bounds = KeyBounds.of(order.keys.map(key => key.path -> key.dataType), rowGroups.map(_.stats))
    quality.copy(keys = quality.keys.zip(bounds).map { case (key, bounds) =>
      key.copy(inFile = ClusterQuality.openedInFile(rowGroups, bounds.ranges))
    })
  }

  private def judged(order: TaggedOrder): Option[ClusterQuality] = {
    val all =
      dataFiles.indices.map(i => i -> ClusteredFile(dataFiles(i).partition, adds(i).size, stateOf(i, order)))
    val inOrder = all.collect { case (_, file) if file.by == ClusteredBy.TheseKeys => file.partition }.toSet
    val some = if (declared.nonEmpty) all else all.filter { case (_, file) => inOrder(file.partition) }
    Option.when(some.nonEmpty) {
      val bounds =
        KeyBounds.of(
          order.keys.map(key => key.path -> key.dataType),
          some.map { case (i, _) => adds(i).stats }
        )
      ClusterQuality.of(
        some.map(_._2),
        order.keys.map(_.name).zip(bounds),
        Option.when(declared.isEmpty)(order.clause)
      )
    }
  }

  /** OPTIMIZE leaves files of other providers alone, and those clustered by columns that are gone. */
  private def stateOf(i: Int, order: TaggedOrder): ClusteredBy = {
    val isForeign = isLiquid && adds(i).clusteringProvider.exists(_ != ClusteredTableUtils.clusteringProvider)
    orders(i) match {
      case _ if isForeign => ClusteredBy.OtherKeys
      case None => ClusteredBy.Nothing
      case Some(unknown) if !unknown.isKnown => if (isLiquid) ClusteredBy.OtherKeys else ClusteredBy.Nothing
      case Some(its) => if (its.isSame(order)) ClusteredBy.TheseKeys else ClusteredBy.OtherKeys
    }
  }
}

object Clustering {

  /** @return None if no file is in an order, and the table has none either */
  def of(table: DeltaHandle, files: SelectedFiles, layout: Layout): Option[Clustering] =
    Option.when(layout.reorders || files.files.exists(_.cube.nonEmpty)) {
      new Clustering(table, files.withActions, layout)
    }
}
