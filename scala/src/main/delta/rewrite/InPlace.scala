package org.apache.spark.sql.delta.upkeep.rewrite

import io.deltaupkeep.plan.compact.{Bin, NewFileTags}

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/** New files that take the place of another, for example in the table's clustering. */
private[rewrite] object InPlace {

  /** A new file of a bin, one of whose inputs is `input`. */
  def of(bin: Bin, input: AddFile, add: AddFile): AddFile = bin.tags match {
    case NewFileTags.TargetSize => add
    case NewFileTags.OfInput =>
      NewFile.changed(add)(tags = input.tags, clusteringProvider = input.clusteringProvider)
    case NewFileTags.OfLargeInput =>
      val tags = Option(input.tags).getOrElse(Map.empty) ++ add.tags
      NewFile.changed(add)(tags = tags, clusteringProvider = input.clusteringProvider)
  }
}
