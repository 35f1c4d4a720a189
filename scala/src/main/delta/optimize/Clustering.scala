package org.apache.spark.sql.delta.upkeep.optimize

import scala.util.Try

import io.deltaupkeep.plan.cluster.{ClusterQuality, ClusteredBy, ClusteredFile}
import io.deltaupkeep.stats.KeyBounds

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, PhysicalSchema}
import org.apache.spark.sql.delta.zorder.ZCubeInfo

/** How well the files of a table are clustered, by their tags and statistics. */
final class Clustering(table: DeltaHandle, files: SelectedFiles) {
  private val adds = files.adds.toIndexedSeq
  private val clusteredBy: IndexedSeq[Seq[String]] = adds.map(Clustering.keysOf)

  /**
   * The columns of CLUSTER BY; for a table without them, those by which most bytes are in Z-order. Delta does not tag
   * the files that its own ZORDER BY writes.
   */
  private val keys: Seq[String] = {
    val byKeys = clusteredBy.zip(adds).groupMapReduce(_._1)(_._2.size)(_ + _) - Nil
    if (table.facts.isClustered) table.facts.clusteringColumns
    else byKeys.toSeq.sortBy { case (keys, bytes) => (-bytes, keys.mkString(",")) }.headOption.fold(
      Seq.empty[String]
    )(_._1)
  }

  /** None if the table has no order, or no files. */
  def quality: Option[ClusterQuality] = {
    val isSame = table.session.sessionState.conf.resolver
    val columns = keys.flatMap { key =>
      PhysicalSchema.find(UnresolvedAttribute.parseAttributeName(key), table.snapshot.metadata, isSame)
    }
    Option.when(adds.nonEmpty && columns.nonEmpty && columns.size == keys.size) {
      val found = adds.zip(clusteredBy).map { case (add, by) =>
        ClusteredFile(files.dataFile(add).partition, add.size, stateOf(by))
      }
      val names = keys.map(key => DeltaTarget.quoted(UnresolvedAttribute.parseAttributeName(key)))
      ClusterQuality.of(found, names.zip(KeyBounds.of(columns, adds.map(_.stats))))
    }
  }

  private def stateOf(by: Seq[String]): ClusteredBy =
    if (by.isEmpty) ClusteredBy.Nothing else if (by == keys) ClusteredBy.TheseKeys else ClusteredBy.OtherKeys
}

private object Clustering {

  /** The keys in the tags of a file; none if there are no tags that Delta could read. */
  def keysOf(add: AddFile): Seq[String] =
    Try(ZCubeInfo.getForFile(add)).toOption.flatten.fold(Seq.empty[String])(_.zOrderBy)
}
