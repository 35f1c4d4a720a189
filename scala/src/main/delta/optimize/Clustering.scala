package org.apache.spark.sql.delta.upkeep.optimize

import scala.collection.mutable
import scala.util.Try

import io.deltaupkeep.plan.cluster.{ClusterQuality, ClusteredBy, ClusteredFile}
import io.deltaupkeep.stats.KeyBounds

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, PhysicalSchema}
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.types.DataType

/**
 * How well the files of a table are clustered, by their tags and statistics. A table without CLUSTER BY is judged by the
 * columns that most bytes are in Z-order by, and only in partitions with such files.
 */
final class Clustering(table: DeltaHandle, files: SelectedFiles) {
  import Clustering._

  private val isLiquid = table.facts.clusteringColumns.nonEmpty
  private val dataFiles = files.files.toIndexedSeq
  private val adds = dataFiles.map(files.actionOf)
  private val keysOfText = mutable.Map.empty[String, Seq[Key]]
  private val keysOf: IndexedSeq[Seq[Key]] = adds.map { add =>
    val tag = if (isLiquid) AddFile.Tags.ZCUBE_ZORDER_BY.name else ZOrderTag
    Option(add.tags).flatMap(_.get(tag)).fold(Seq.empty[Key])(text =>
      keysOfText.getOrElseUpdate(text, keysIn(text))
    )
  }
  private val keys: Seq[Key] =
    if (isLiquid) keysNamed(table.facts.clusteringColumns)
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

  /** OPTIMIZE leaves files of other providers alone. */
  private def stateOf(i: Int): ClusteredBy = {
    val isForeign = isLiquid && adds(i).clusteringProvider.exists(_ != ClusteredTableUtils.clusteringProvider)
    if (keysOf(i).isEmpty && !isForeign) ClusteredBy.Nothing
    else if (keysOf(i) == keys && !isForeign) ClusteredBy.TheseKeys
    else ClusteredBy.OtherKeys
  }

  /** None if the text is not from a writer that is known, or names columns that the table no longer has. */
  private def keysIn(text: String): Seq[Key] =
    Try(keysNamed(JsonUtils.fromJson[Seq[String]](text))).getOrElse(Nil)

  private def keysNamed(names: Seq[String]): Seq[Key] = {
    val found = names.map(UnresolvedAttribute.parseAttributeName).flatMap { parts =>
      PhysicalSchema.find(parts, table.snapshot.metadata, table.session.sessionState.conf.resolver).map {
        case (path, dataType) => Key(DeltaTarget.quoted(parts), path, dataType)
      }
    }
    if (found.size == names.size) found else Nil
  }
}

private[optimize] object Clustering {

  /**
   * The columns of ZORDER BY, as JSON. Delta has tags for this, but where a table gets CLUSTER BY later, its OPTIMIZE takes
   * files with them for clustered ones, and leaves them alone.
   */
  private val ZOrderTag = "deltaUpkeep.zOrderBy"

  def zOrderTags(columns: Seq[String]): Map[String, String] = Map(ZOrderTag -> JsonUtils.toJson(columns))

  /**
   * A column, by its name in the table and in data files.
   *
   * @param name quoted where SQL needs it
   */
  private final case class Key(name: String, path: Seq[String], dataType: DataType) {
    // Names may be spelled in several ways.
    override def equals(other: Any): Boolean = other match {
      case key: Key => key.path == path
      case _ => false
    }
    override def hashCode: Int = path.hashCode
  }
}
