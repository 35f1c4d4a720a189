package org.apache.spark.sql.delta.upkeep.commit

import scala.collection.immutable.NumericRange

import io.deltaupkeep.parquet.file.PlacedRows
import io.deltaupkeep.parquet.footer.RowSelection
import io.deltaupkeep.plan.compact.{DataFile, RewrittenBin}
import io.deltaupkeep.stats.MergedStats
import io.deltaupkeep.store.NewFiles

import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.commands.DeletionVectorUtils
import org.apache.spark.sql.delta.deletionvectors.RoaringBitmapArray
import org.apache.spark.sql.delta.upkeep.rewrite.WrittenBin
import org.apache.spark.sql.delta.upkeep.splice.DeletionVector
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/**
 * A written bin, carried over to one version of the table.
 *
 * @param removed the inputs that still exist at that version
 * @param adds    its new files
 * @param vector  the deletion vector of the new file, made for this version only
 */
private[upkeep] final case class Rebased(
    written: WrittenBin,
    removed: Seq[AddFile],
    adds: Seq[AddFile],
    vector: Option[DeletionVectorDescriptor],
    lateRows: Long
) {

  /** Removes the vector: no commit names it. */
  def removeVector(handle: DeltaHandle): Unit =
    NewFiles.remove(vector.map(_.absolutePath(handle.snapshot.deltaLog.dataPath)).toSeq, handle.hadoopConf)

  /** The bin that was rewritten, with the files that its commit removes and adds. */
  def bin(selected: SelectedFiles): RewrittenBin =
    if (lateRows == 0) written.bin
    else {
      val read = written.inputs.map(file => file.path -> file.deletedRows).toMap
      val files = removed.map(selected.dataFile).map(file => file.copy(deletedRows = read(file.path)))
      val bin = written.bin.bin.copy(files = files)
      written.bin.copy(bin = bin, addedSizes = adds.map(_.size), lateRows = lateRows)
    }
}

private[upkeep] object Rebased {

  /** A bin on the version that its inputs were read from. */
  def unchanged(written: WrittenBin, selected: SelectedFiles): Rebased =
    Rebased(written, written.inputs.map(selected.actionOf), written.adds, vector = None, lateRows = 0)
}

/**
 * Carries written bins over to a newer version of the table. Rows of their inputs that other writers deleted meanwhile
 * are deleted from the new file too, by a deletion vector. It is always made from what was read and that version, so a
 * bin can be carried over repeatedly.
 *
 * @param next    starts from the newer version
 * @param carries whether bins with changed inputs are carried over; if not, they are lost
 */
private[upkeep] final class Rebase(
    handle: DeltaHandle,
    selected: SelectedFiles,
    next: OptimisticTransaction,
    carries: Boolean
) {
  private val snapshot = handle.snapshot
  private val root = snapshot.deltaLog.dataPath
  private val conf = handle.hadoopConf
  private val vectors = new NewDeletionVector(root, next.metadata, conf)

  /** The new files follow the schema, the properties and the features of the version that was read. */
  private val isSameTable =
    LaterMetadata.takesFiles(snapshot.metadata, next.metadata) && next.protocol == snapshot.protocol
  private val takesVectors =
    carries && DeletionVectorUtils.deletionVectorsWritable(next.protocol, next.metadata)

  /** The bins that can be carried over, and those that are lost. A failure leaves nothing behind. */
  def apply(bins: Seq[WrittenBin]): (Seq[Rebased], Seq[WrittenBin]) =
    if (!isSameTable) (Nil, bins)
    else {
      val live = filesOf(bins)
      val done = Vector.newBuilder[Rebased]
      val lost = Vector.newBuilder[WrittenBin]
      try bins.foreach(bin => onto(live, bin).fold[Unit](lost += bin)(done += _))
      catch {
        case failure: Throwable =>
          done.result().foreach(_.removeVector(handle))
          throw failure
      }
      (done.result(), lost.result())
    }

  /** The inputs of bins that the newer version has, by their paths. */
  private def filesOf(bins: Seq[WrittenBin]): Map[String, AddFile] = {
    val wanted = bins.iterator.flatMap(_.inputs).map(_.path).toSet
    next.snapshot
      .filesForScan(selected.predicate)
      .files
      .iterator
      .map(add => selected.ids.idOf(add).path -> add)
      .filter { case (path, _) => wanted(path) }
      .toMap
  }

  private def onto(live: Map[String, AddFile], bin: WrittenBin): Option[Rebased] = {
    val found = bin.inputs.map(input => input -> live.get(input.path))
    if (found.forall { case (input, now) => now.exists(selected.ids.idOf(_) == input.id) })
      Some(Rebased.unchanged(bin, selected))
    else if (!takesVectors) None
    else
      for {
        placed <- bin.placed
        late <- lateRows(found.map { case (input, now) => merged(input, now) }, placed)
        rebased <- hiding(late, bin, found.flatMap { case (input, now) => now.map(current(input, _)) })
      } yield rebased
  }

  private def merged(input: DataFile, now: Option[AddFile]): MergedInput = {
    val fate = now match {
      case None => InputFate.Removed
      case Some(add) if selected.ids.idOf(add) == input.id => InputFate.Unchanged
      case Some(add) => InputFate.Hidden(() => deletedRows(add))
    }
    MergedInput(() => deletedRows(selected.actionOf(input)), fate)
  }

  private def deletedRows(add: AddFile): RowSelection =
    DeletionVector.of(add, root).fold(RowSelection.none)(_.read(conf))

  private def lateRows(inputs: Seq[MergedInput], placed: Seq[PlacedRows]): Option[RoaringBitmapArray] = {
    val rows = new RoaringBitmapArray
    val isFound = new LateDeletions(inputs, placed).find { (from, until) =>
      rows.addRange(NumericRange(from, until, 1L))
    }
    Option.when(isFound)(rows)
  }

  /** The file as the newer version has it. A scan returns no statistics. */
  private def current(input: DataFile, now: AddFile): AddFile = {
    val read = selected.actionOf(input)
    if (selected.ids.idOf(now) == input.id) read
    else NewFile.changed(now)(stats = Option(read.stats).flatMap(MergedStats.withWideBounds).orNull)
  }

  /** The bin with a vector that hides rows of its new file; without the file if no row would be left. */
  private def hiding(late: RoaringBitmapArray, bin: WrittenBin, removed: Seq[AddFile]): Option[Rebased] = {
    val count = late.cardinality
    bin.adds match {
      case adds if count == 0 => Some(Rebased(bin, removed, adds, vector = None, lateRows = 0))
      case Seq(_) if bin.placed.exists(_.map(_.rows).sum == count) =>
        Some(Rebased(bin, removed, Nil, vector = None, lateRows = count))
      case Seq(add) =>
        MergedStats.withWideBounds(add.stats).map { stats =>
          val vector = vectors.write(late)
          val hidden = NewFile.changed(add)(stats = stats, deletionVector = vector)
          Rebased(bin, removed, Seq(hidden), Some(vector), count)
        }
      case _ => None
    }
  }
}
