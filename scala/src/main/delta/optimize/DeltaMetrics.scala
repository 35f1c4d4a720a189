package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.plan.compact.{ClusteringFileStats, InputCubes, Layout, OptimizeScope}

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.delta.DeltaConfigs
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.commands.optimize.OptimizeMetrics
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.zorder.ZCubeInfo
import org.apache.spark.sql.types.StructType

/** What Delta's OPTIMIZE returns as `metrics`. */
object DeltaMetrics {

  /** Of the Delta on the class path. */
  def schema: StructType = Encoders.product[OptimizeMetrics].schema

  private[upkeep] def scopeOf(table: DeltaHandle, selected: SelectedFiles, layout: Layout): OptimizeScope = {
    val metadata = table.snapshot.metadata
    val columns = metadata.schema.size
    OptimizeScope(
      table.path,
      table.session.sparkContext.defaultParallelism,
      columns,
      DeltaConfigs.DATA_SKIPPING_NUM_INDEXED_COLS.fromMetaData(metadata).min(columns),
      layout match {
        case cluster: Layout.Cluster => Some(inputCubes(selected.adds, cluster))
        case _ => None
      }
    )
  }

  /** FULL takes Z-cubes of other columns for clustered too. */
  private def inputCubes(adds: Iterable[AddFile], layout: Layout.Cluster): InputCubes = {
    def cubeOf(add: AddFile) =
      ZCubeInfo.getForFile(add).filter(cube => layout.full || cube.zOrderBy == layout.columns)
    val (inCubes, others) = adds.partition(cubeOf(_).nonEmpty)
    InputCubes(totals(inCubes), inCubes.flatMap(cubeOf).map(_.zCubeID).toSet.size, totals(others))
  }

  private def totals(adds: Iterable[AddFile]): ClusteringFileStats =
    ClusteringFileStats(adds.size, adds.iterator.map(_.size).sum)
}
