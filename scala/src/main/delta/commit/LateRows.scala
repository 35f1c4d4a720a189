package org.apache.spark.sql.delta.upkeep.commit

import scala.collection.immutable.NumericRange

import io.deltaupkeep.CountText
import io.deltaupkeep.parquet.file.PlacedRows
import io.deltaupkeep.parquet.footer.RowSelection
import io.deltaupkeep.stats.MergedStats

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.deletionvectors.RoaringBitmapArray
import org.apache.spark.sql.delta.upkeep.rewrite.{Placement, WrittenBin}
import org.apache.spark.sql.delta.upkeep.splice.{
  DeletionVector,
  InputFate,
  MarkedFile,
  SpliceJob,
  TableSplice
}
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/**
 * A written bin, and its inputs as a newer version of the table has them.
 *
 * @param now None for an input that it does not have
 */
private[commit] final case class ChangedBin(
    written: WrittenBin,
    now: Seq[Option[AddFile]],
    selected: SelectedFiles,
    root: Path
) {
  val fates: Seq[InputFate] = written.inputs.zip(now).map {
    case (_, None) => InputFate.Removed
    case (input, Some(add)) if selected.ids.idOf(add) == input.id => InputFate.Unchanged
    case (_, Some(add)) => InputFate.Hidden(DeletionVector.of(add, root))
  }

  def isAsRead: Boolean = fates.forall(_ == InputFate.Unchanged)

  /** The inputs that still exist. A scan returns no statistics. */
  def removed: Seq[AddFile] = written.inputs.zip(now).flatMap { case (input, add) =>
    add.map { add =>
      val read = selected.actionOf(input)
      if (selected.ids.idOf(add) == input.id) read
      else NewFile.changed(add)(stats = Option(read.stats).flatMap(MergedStats.withWideBounds).orNull)
    }
  }
}

/**
 * Rows of a new file that other writers deleted from its inputs after these were read.
 *
 * @param deleted their positions
 * @param rows    of the file
 */
private[commit] final case class LateRows(deleted: RoaringBitmapArray, rows: Long) {
  def count: Long = deleted.cardinality
  def areAll: Boolean = count > 0 && count == rows
}

private[commit] object LateRows {
  def none: LateRows = LateRows(new RoaringBitmapArray, rows = 0)

  def of(file: MarkedFile): LateRows = LateRows(file.marked, file.rows)
}

private[commit] final class LateRowsOfBins(handle: DeltaHandle, selected: SelectedFiles) extends Logging {
  private val root = handle.snapshot.deltaLog.dataPath
  private val conf = handle.hadoopConf

  /**
   * The late rows of each new file.
   *
   * @param takesVectors whether rows of new files can be hidden
   * @return None for a bin that is lost
   */
  def of(bins: Seq[ChangedBin], takesVectors: Boolean): Seq[Option[Seq[LateRows]]] = {
    val changed = if (takesVectors) bins.filterNot(_.isAsRead) else Nil
    val found = ofOrders(changed.map(bin => bin -> bin.written.placement).collect {
      case (bin, order: Placement.InOrder) if isMostlyLeft(bin) => (bin, order)
    })
    bins.map { bin =>
      bin.written.placement match {
        case _ if bin.isAsRead => Some(bin.written.adds.map(_ => LateRows.none))
        case Placement.InRuns(placed) if takesVectors => ofRuns(bin, placed)
        case _ => found.get(bin.written).flatten
      }
    }
  }

  /** Removed inputs may make up at most half of a bin, as in [[LateDeletions]]. */
  private def isMostlyLeft(bin: ChangedBin): Boolean = {
    val gone = bin.written.inputs.zip(bin.fates).collect { case (input, InputFate.Removed) =>
      input.sizeInBytes
    }
    gone.size < bin.fates.size && gone.sum <= bin.written.inputs.map(_.sizeInBytes).sum / 2
  }

  private def ofOrders(
      bins: Seq[(ChangedBin, Placement.InOrder)]
  ): Map[WrittenBin, Option[Seq[LateRows]]] =
    if (bins.isEmpty) Map.empty
    else {
      val files = job.late(bins.map { case (bin, order) => (order.run, bin.fates.toIndexedSeq) })
      bins.zip(files).map { case ((bin, order), files) =>
        bin.written -> files.fold(why => lost(bin, why.reason), rowsOf(bin, order, _))
      }.toMap
    }

  /** Reads keys once more. */
  private def job: SpliceJob =
    new TableSplice(handle.session, handle.snapshot, target = 0, compression = None)
      .job(s"OPTIMIZE ${handle.name}: rows that were deleted meanwhile")

  private def rowsOf(
      bin: ChangedBin,
      order: Placement.InOrder,
      files: Seq[MarkedFile]
  ): Option[Seq[LateRows]] = {
    val byFingerprint = files.map(file => file.fingerprint -> file).toMap
    val found = order.traced.flatMap(byFingerprint.get(_))
    if (found.size == bin.written.adds.size) Some(found.map(LateRows.of))
    else lost(bin, "its keys were not found in the same order again")
  }

  private def lost(bin: ChangedBin, why: String): Option[Seq[LateRows]] = {
    val files = CountText.of(bin.written.inputs.size, "file")
    logWarning(
      s"A bin of $files cannot be carried over: rows that were deleted from them are not found: $why"
    )
    None
  }

  private def ofRuns(bin: ChangedBin, placed: Seq[PlacedRows]): Option[Seq[LateRows]] = {
    val inputs = bin.written.inputs.zip(bin.fates).map { case (input, fate) =>
      def leftOut = DeletionVector.of(selected.actionOf(input), root)
      MergedInput(() => leftOut.fold(RowSelection.none)(_.read(conf)), fate)
    }
    val rows = new RoaringBitmapArray
    val isFound = new LateDeletions(inputs, placed, conf).find { (from, until) =>
      rows.addRange(NumericRange(from, until, 1L))
    }
    Option.when(isFound)(bin.written.adds.map(_ => LateRows(rows, placed.map(_.rows).sum)))
  }
}
