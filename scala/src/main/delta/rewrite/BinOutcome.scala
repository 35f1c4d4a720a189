package org.apache.spark.sql.delta.upkeep.rewrite

import io.deltaupkeep.parquet.file.PlacedRows
import io.deltaupkeep.plan.compact.{Bin, DataFile, OddBin, RewrittenBin}
import io.deltaupkeep.store.NewFiles

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.splice.OrderedRun
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.DeltaFileOperations

/** What became of a bin of a plan, or of some of its files. */
private[upkeep] sealed trait BinOutcome

private[upkeep] object BinOutcome {

  /** Of the splice job only: the rows tier has to rewrite it. */
  final case class NeedsRows(bin: Bin) extends BinOutcome

  /** Nothing else will be tried. */
  sealed trait Final extends BinOutcome

  final case class Written(bin: WrittenBin) extends Final

  /** It turned out to be unreadable or not worth rewriting; the tier's reason says why. */
  final case class Left(bin: Bin) extends Final

  /** Its new file was already removed. */
  final case class Odd(bin: OddBin) extends Final
}

/** Where the rows of the inputs of a bin are in its new files. */
private[upkeep] sealed trait Placement

private[upkeep] object Placement {
  case object Unknown extends Placement

  /** In runs, in the order of the new file. */
  final case class InRuns(placed: Seq[PlacedRows]) extends Placement

  /**
   * In an order that can be found again.
   *
   * @param traced fingerprints of the new files
   */
  final case class InOrder(run: OrderedRun, traced: Seq[Long]) extends Placement
}

/** A bin whose new files are written but not committed yet. */
private[upkeep] final case class WrittenBin(bin: RewrittenBin, adds: Seq[AddFile], placement: Placement) {
  def inputs: Seq[DataFile] = bin.bin.files

  /** Removes the new files: they will not be committed. */
  def remove(handle: DeltaHandle): Unit =
    NewFiles.remove(
      adds.map(add => DeltaFileOperations.absolutePath(handle.path, add.path)),
      handle.hadoopConf
    )
}
