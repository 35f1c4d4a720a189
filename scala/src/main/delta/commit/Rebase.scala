package org.apache.spark.sql.delta.upkeep.commit

import io.deltaupkeep.plan.compact.RewrittenBin
import io.deltaupkeep.stats.MergedStats
import io.deltaupkeep.store.NewFiles

import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.commands.DeletionVectorUtils
import org.apache.spark.sql.delta.upkeep.rewrite.WrittenBin
import org.apache.spark.sql.delta.upkeep.files.{ActiveFiles, SelectedFiles}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/**
 * A written bin, carried over to one version of the table.
 *
 * @param removed the inputs that still exist at that version
 * @param adds    its new files that have rows left
 * @param vectors the deletion vectors of new files, made for this version only
 */
private[upkeep] final case class Rebased(
    written: WrittenBin,
    removed: Seq[AddFile],
    adds: Seq[AddFile],
    vectors: Seq[DeletionVectorDescriptor],
    lateRows: Long
) {

  /** Removes the vectors: no commit names them. */
  def removeVectors(handle: DeltaHandle): Unit =
    NewFiles.remove(vectors.map(_.absolutePath(handle.snapshot.deltaLog.dataPath)), handle.hadoopConf)

  /** Removes the new files of which other writers deleted all rows, after the commit. */
  def removeEmptied(handle: DeltaHandle): Unit = {
    val kept = adds.iterator.map(_.path).toSet
    written.copy(adds = written.adds.filterNot(add => kept(add.path))).remove(handle)
  }

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
    Rebased(written, written.inputs.map(selected.actionOf), written.adds, vectors = Nil, lateRows = 0)
}

/**
 * Carries written bins over to a newer version of the table. Rows of their inputs that other writers deleted meanwhile
 * are deleted from the new files too, by deletion vectors. It is always made from what was read and that version, so a
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
  private val lateRows = new LateRowsOfBins(handle, selected)
  private val newVectors = new NewDeletionVector(root, next.metadata, conf)

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
      val found =
        bins.map(bin => ChangedBin(bin, bin.inputs.map(input => live.get(input.path)), selected, root))
      val late = lateRows.of(found, takesVectors)
      val done = Vector.newBuilder[Rebased]
      val lost = Vector.newBuilder[WrittenBin]
      try found.zip(late).foreach { case (bin, rows) =>
          rows.flatMap(hiding(_, bin)).fold[Unit](lost += bin.written)(done += _)
        }
      catch {
        case failure: Throwable =>
          done.result().foreach(_.removeVectors(handle))
          throw failure
      }
      (done.result(), lost.result())
    }

  /** The inputs of bins that the newer version has, by their paths. */
  private def filesOf(bins: Seq[WrittenBin]): Map[String, AddFile] = {
    val wanted = bins.iterator.flatMap(_.inputs).map(_.path).toSet
    ActiveFiles.ofPaths(handle.at(next.snapshot), wanted).map { case (id, add) => id.path -> add }
  }

  /** The bin with vectors that hide rows of its new files, without those files that have no other rows. */
  private def hiding(late: Seq[LateRows], bin: ChangedBin): Option[Rebased] = {
    val files = bin.written.adds.zip(late).filterNot { case (_, rows) => rows.areAll }
    val stats = files.map { case (add, rows) =>
      if (rows.count == 0) Some(add.stats) else MergedStats.withWideBounds(add.stats)
    }
    Option.when(stats.forall(_.nonEmpty)) {
      val vectors = Vector.newBuilder[DeletionVectorDescriptor]
      try {
        val adds = files.zip(stats.flatten).map {
          case ((add, rows), _) if rows.count == 0 => add
          case ((add, rows), wide) =>
            val vector = newVectors.write(rows.deleted)
            vectors += vector
            NewFile.changed(add)(stats = wide, deletionVector = vector)
        }
        Rebased(bin.written, bin.removed, adds, vectors.result(), late.map(_.count).sum)
      } catch {
        case failure: Throwable =>
          NewFiles.remove(vectors.result().map(_.absolutePath(root)), conf)
          throw failure
      }
    }
  }
}
