package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.plan.cluster.ClusterPlanner
import io.deltaupkeep.plan.compact.{
  ClusterGroup,
  ClusteringFileStats,
  CodecFindings,
  DataFile,
  InputCubes,
  Layout,
  OptimizePlan,
  OptimizePlanner,
  OptimizeSettings
}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.DeltaOperations.Operation
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi
import org.apache.spark.sql.delta.zorder.ZCubeInfo

/** OPTIMIZE of a table with CLUSTER BY. */
private[optimize] final class ClusterLayout(table: DeltaHandle, layout: Layout.Cluster)
    extends AlongCurve(table, layout.columns, zOrderBy = Nil, layout.full) {

  override def plan(
      selected: SelectedFiles,
      settings: OptimizeSettings,
      codecs: CodecFindings
  ): OptimizePlan = {
    val cubes = selected.files.iterator.flatMap { file =>
      ZCubeInfo.getForFile(selected.actionOf(file)).map(file.id -> _)
    }.toMap
    def isOfOthers(file: DataFile) =
      selected.actionOf(file).clusteringProvider.exists(_ != ClusteredTableUtils.clusteringProvider) ||
        cubes.get(file.id).exists(_.zOrderBy != layout.columns)
    def cubeOf(file: DataFile) = cubes.get(file.id).map(_.zCubeID)
    val groups =
      if (layout.full)
        groupsUpTo(
          strategy.prepareFilesPerPartition(selected.adds.toSeq).map(selected.dataFile),
          strategy.maxBinSize
        )
          .map(ClusterGroup.all(_, settings))
      else
        new ClusterPlanner(settings, completeBytes, strategy.maxBinSize)
          .groups(selected.files.filterNot(isOfOthers), cubeOf)(rangesOf(selected))
    OptimizePlanner.ordered(
      selected.files,
      groups,
      file => cubeOf(file).nonEmpty && !isOfOthers(file),
      settings,
      layout,
      needsRows,
      codecs
    )
  }

  private def completeBytes: Long =
    table.session.sessionState.conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_CLUSTERING_MIN_CUBE_SIZE)

  /** Groups neighbours up to a size, in the given order: Z-cubes must stay together. */
  private def groupsUpTo(files: Seq[DataFile], maxBytes: Long): Seq[Seq[DataFile]] =
    files
      .foldLeft(List.empty[(Long, Vector[DataFile])]) {
        case ((bytes, group) :: done, file) if bytes + file.sizeInBytes <= maxBytes =>
          (bytes + file.sizeInBytes, group :+ file) :: done
        case (done, file) => (file.sizeInBytes, Vector(file)) :: done
      }
      .reverse
      .map { case (_, group) => group }

  override def operation(predicate: Seq[Expression], isAuto: Boolean): Operation =
    DeltaApi.current.optimizeOperation(predicate, Nil, isAuto, Some(layout.columns), layout.full)

  /** FULL also counts Z-cubes of other columns as clustered. */
  override def inputCubes(adds: => Iterable[AddFile]): Option[InputCubes] = {
    def cubeOf(add: AddFile) =
      ZCubeInfo.getForFile(add).filter(cube => layout.full || cube.zOrderBy == layout.columns)
    val (inCubes, others) = adds.partition(cubeOf(_).nonEmpty)
    Some(InputCubes(totals(inCubes), inCubes.flatMap(cubeOf).map(_.zCubeID).toSet.size, totals(others)))
  }

  private def totals(adds: Iterable[AddFile]): ClusteringFileStats =
    ClusteringFileStats(adds.size, adds.iterator.map(_.size).sum)
}
