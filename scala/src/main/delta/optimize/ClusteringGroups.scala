package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.plan.compact.{DataFile, Layout}

import org.apache.spark.sql.delta.upkeep.rewrite.RowRewriter
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** The groups of files that liquid clustering should order together, by Delta's own choice. */
private[upkeep] object ClusteringGroups {

  def of(handle: DeltaHandle, selected: SelectedFiles, layout: Layout.Cluster): Seq[Seq[DataFile]] = {
    val strategy = RowRewriter.strategyOf(handle.session, handle.snapshot, layout)
    val prepared = strategy.prepareFilesPerPartition(selected.adds.toSeq).map(selected.dataFile)
    groupsUpTo(prepared, strategy.maxBinSize)
  }

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
}
