package org.apache.spark.sql.delta.upkeep.optimize

import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable

import io.deltaupkeep.{CountText, UpkeepErrors}
import io.deltaupkeep.optimize._
import io.deltaupkeep.parquet.file.{PlacedRows, SpliceOutcome}
import io.deltaupkeep.parquet.footer.LeafTotals

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.api.NewFile
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.util.ThreadUtils

/**
 * A bin whose new files are written but not committed yet.
 *
 * @param placed where the rows of the inputs are in the new file, if that is known
 */
private[upkeep] final case class Written(
    bin: RewrittenBin,
    adds: Seq[AddFile],
    placed: Option[Seq[PlacedRows]]
) {
  def inputs: Seq[DataFile] = bin.bin.files

  /** Removes the new files: they will not be committed. */
  def remove(handle: DeltaHandle): Unit =
    NewFiles.remove(
      adds.map(add => DeltaFileOperations.absolutePath(handle.path, add.path)),
      handle.hadoopConf
    )
}

/**
 * Writes the new files of a plan's bins: those that can be spliced in one Spark job, then the others row by
 * row, in one job each.
 *
 * @param actionOf Delta's action for a file
 */
private[upkeep] final class BinWriter(
    handle: DeltaHandle,
    plan: OptimizePlan,
    actionOf: DataFile => AddFile
) {
  private val session = handle.session
  private val splicer = new BinSplicer(handle, plan, actionOf)
  private val partitions = new PartitionCheck(
    handle.snapshot.metadata.physicalPartitionSchema,
    session.sessionState.conf.sessionLocalTimeZone
  )

  private val leftAlone = mutable.ArrayBuffer.empty[Bin]

  /** Files of the plan that turned out not to be worth it, once all bins are written. */
  def left: Seq[Bin] = leftAlone.toVector

  /** Row by row, and not taken yet. */
  private val rewritten = ConcurrentHashMap.newKeySet[Written]()
  private lazy val rows =
    new RowRewriter(handle, RowRewriter.strategyOf(session, handle.snapshot, plan.layout), plan)

  /**
   * The written bins as they arrive. A failure ends the iteration. Closing it removes the files of those that were
   * not taken.
   */
  def write(): ClosableIterator[Written] = {
    val results = splicer.run()
    // The driver merges statistics while the tasks run.
    val stats = splicer.bins.map(bin => splicer.rewriter.statsOf(bin.files.map(actionOf)))
    val refused = mutable.ArrayBuffer.empty[Bin]
    val spliced = results.flatMap { result =>
      val parts = splicer.partsOf(result)
      refused ++= parts.byRows
      leftAlone ++= parts.left
      parts.spliced.flatMap { case (bin, done) =>
        accept(bin, done, result, stats(result.index)) match {
          case Right(written) => Some(written)
          case Left(disagreeing) =>
            refused += disagreeing
            None
        }
      }
    }
    // What was refused is known once the splice job has ended; `++` does not ask for the rest before.
    ClosableIterator(spliced ++ writeRows(splicer.needRows ++ refused)) {
      results.close()
      rewritten.forEach(_.remove(handle))
    }
  }

  /**
   * The spliced part of a bin as it is written and checked, or as it has to be written row by row.
   *
   * @param ofAll what the log says about the rows of the whole bin
   */
  private def accept(
      bin: Bin,
      done: SpliceOutcome.Done,
      result: SpliceTaskResult,
      ofAll: MergedStats.Result
  ): Either[Bin, Written] = {
    val stats = if (result.refused.isEmpty) ofAll else splicer.rewriter.statsOf(bin.files.map(actionOf))
    checked(written(bin, done, result, stats), done, stats)
  }

  /** Compares a spliced bin with what the log says about its inputs. */
  private def checked(
      written: Written,
      done: SpliceOutcome.Done,
      stats: MergedStats.Result
  ): Either[Bin, Written] = {
    val verdict = done.totals match {
      case Some(totals) => splicer.rewriter.check(stats, totals)
      case None => RewriteCheck.ofNoRows(stats)
    }
    verdict match {
      case RewriteCheck.Same => Right(ofOnePartition(written))
      case RewriteCheck.InputsDisagree(reason) =>
        written.remove(handle)
        Left(written.bin.bin.copy(tier = Tier.Rows(reason)))
      case RewriteCheck.Differs(difference) => mismatch(written, difference)
    }
  }

  private def ofOnePartition(written: Written): Written =
    partitions.difference(written.inputs.map(actionOf)).fold(written)(mismatch(written, _))

  private def mismatch(written: Written, difference: String): Nothing = {
    written.remove(handle)
    throw UpkeepErrors.rewriteMismatch(handle.name, difference)
  }

  /** The number of rows of a bin without deleted ones, if the log has it. */
  private def rowsOf(bin: Bin): Option[Long] =
    Option.when(bin.files.forall(_.physicalRows.nonEmpty)) {
      bin.files.flatMap(_.physicalRows).sum - bin.files.map(_.deletedRows).sum
    }

  private def rowsOf(adds: Seq[AddFile]): Option[Long] = {
    val counts = adds.map(add => MergedStats.numRecords(add.stats))
    Option.when(counts.forall(_.nonEmpty))(counts.flatten.sum)
  }

  private def written(
      bin: Bin,
      done: SpliceOutcome.Done,
      result: SpliceTaskResult,
      stats: MergedStats.Result
  ): Written = {
    val input = actionOf(bin.files.head)
    val leaves = done.totals.fold(Map.empty[Seq[String], LeafTotals])(_.output.leaves)
    val adds =
      result.file.toSeq.map(splicer.rewriter.addFile(splicer.tasks(result.index), _, input, stats, leaves))
    val work = done.tallies.map { case (tier, tally) =>
      TierWork(tier.name, tally.bytes, tally.nanos / 1000000)
    }
    Written(
      RewrittenBin(bin, adds.map(_.size), Some(BinSplicer.rowGroupsOf(done)), work.toSeq),
      inPlaceOf(input, adds),
      Some(done.placed)
    )
  }

  /** Where each file is rewritten by itself, it stays in its place of the table's clustering. */
  private def inPlaceOf(input: AddFile, adds: Seq[AddFile]): Seq[AddFile] = plan.layout match {
    case Layout.Purge(true) =>
      adds.map(NewFile.changed(_)(tags = input.tags, clusteringProvider = input.clusteringProvider))
    case _ => adds
  }

  private def writeRows(bins: Seq[Bin]): Iterator[Written] = {
    val threads = session.sessionState.conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_THREADS)
    val results = ThreadUtils.parmap(bins, "delta-upkeep-optimize", threads) { bin =>
      session.sparkContext.setJobDescription(
        s"OPTIMIZE ${handle.name}: ${CountText.of(bin.files.size, "file")} ${bin.partition.text}".trim
      )
      scala.util.Try {
        val started = System.nanoTime()
        val adds = inPlaceOf(actionOf(bin.files.head), rows.rewrite(bin, bin.files.map(actionOf)))
        val work = TierWork("rows", bin.sizeInBytes, (System.nanoTime() - started) / 1000000)
        val written = Written(RewrittenBin(bin, adds.map(_.size), None, Seq(work)), adds, placed = None)
        RewriteCheck.rowDifference(rowsOf(bin), rowsOf(adds)).foreach(mismatch(written, _))
        rewritten.add(written)
        written
      }
    }
    // Written bins are returned first, so that the caller knows them when the failure is thrown.
    (results.filter(_.isSuccess) ++ results.filter(_.isFailure)).iterator.map { result =>
      rewritten.remove(result.get)
      result.get
    }
  }
}
