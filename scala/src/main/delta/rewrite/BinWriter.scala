package org.apache.spark.sql.delta.upkeep.rewrite

import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable
import scala.util.Failure

import io.deltaupkeep.{ClosableIterator, CountText, SideBySide}
import io.deltaupkeep.parquet.file.{PlacedRows, SpliceOutcome}
import io.deltaupkeep.parquet.footer.LeafTotals
import io.deltaupkeep.plan.compact.{Bin, DataFile, OptimizePlan, RewrittenBin, Tier, TierWork}
import io.deltaupkeep.stats.{MergedStats, RewriteCheck, RowsCheck}
import io.deltaupkeep.store.NewFiles

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.splice.{BinSplicer, Finding, SpliceTaskResult}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}
import org.apache.spark.sql.delta.util.DeltaFileOperations

/**
 * A bin whose new files are written but not committed yet.
 *
 * @param placed where the rows of the inputs are in the new file, if that is known
 */
private[upkeep] final case class WrittenBin(
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
 * @param layout   of the plan
 * @param actionOf Delta's action for a file
 * @param odd      is told the bins whose new files would differ from their inputs
 */
private[upkeep] final class BinWriter(
    handle: DeltaHandle,
    layout: RewriteLayout,
    plan: OptimizePlan,
    actionOf: DataFile => AddFile,
    odd: OddBins
) {
  private val session = handle.session
  private val splicer = new BinSplicer(handle, plan, actionOf)
  private val partitions = new PartitionCheck(
    handle.snapshot.metadata.physicalPartitionSchema,
    session.sessionState.conf.sessionLocalTimeZone
  )

  private val comparison = new RowComparison(handle)

  private val leftAlone = mutable.ArrayBuffer.empty[Bin]

  /** Files of the plan that turned out not to be worth it, once all bins are written. */
  def left: Seq[Bin] = leftAlone.toVector

  /** Row by row, and not taken yet. */
  private val rewritten = ConcurrentHashMap.newKeySet[WrittenBin]()
  private lazy val rows = new RowRewriter(handle, layout, plan)

  /**
   * The written bins as they arrive. A failure ends the iteration. Closing it removes the files of those that were
   * not taken.
   */
  def write(): ClosableIterator[WrittenBin] = {
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
          case Right(written) => written
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
   * The spliced part of a bin as it is written and checked, none if it is odd, or as it has to be written row by row.
   *
   * @param ofAll what the log says about the rows of the whole bin
   */
  private def accept(
      bin: Bin,
      done: SpliceOutcome.Done,
      result: SpliceTaskResult,
      ofAll: MergedStats.Result
  ): Either[Bin, Option[WrittenBin]] = {
    val stats = if (result.refused.isEmpty) ofAll else splicer.rewriter.statsOf(bin.files.map(actionOf))
    checked(written(bin, done, result, stats), done, stats, result.finding)
  }

  /** Compares a spliced bin with what the log says about its inputs, and asks what a spot check found. */
  private def checked(
      written: WrittenBin,
      done: SpliceOutcome.Done,
      stats: MergedStats.Result,
      finding: Option[Finding]
  ): Either[Bin, Option[WrittenBin]] = {
    val verdict = done.totals match {
      case Some(totals) => splicer.rewriter.check(stats, totals)
      case None => RewriteCheck.ofNoRows(stats)
    }
    (verdict, finding) match {
      case (RewriteCheck.InputsDisagree(reason), _) => byRows(written, reason)
      case (RewriteCheck.Differs(difference), _) =>
        // What the log or a footer says of the inputs is wrong, so the new file needs numbers that are made of its rows.
        settled(written, difference).fold[Either[Bin, Option[WrittenBin]]](Right(None)) { same =>
          byRows(same, s"the log and the footers of its files disagree: $difference")
        }
      case (RewriteCheck.Same, Some(Finding.OfBounds(reason))) => byRows(written, reason)
      case (RewriteCheck.Same, Some(Finding.OfRows(difference))) => Right(settled(written, difference))
      case (RewriteCheck.Same, None) => Right(ofOnePartition(written))
    }
  }

  private def byRows(written: WrittenBin, reason: String): Either[Bin, Nothing] = {
    written.remove(handle)
    Left(written.bin.bin.copy(tier = Tier.Rows(reason)))
  }

  private def ofOnePartition(written: WrittenBin): Option[WrittenBin] =
    partitions.difference(written.inputs.map(actionOf)).fold(Option(written))(isOdd(written, _))

  /** Reads all rows where numbers disagree. If the rows are the same, the numbers were wrong. */
  private def settled(written: WrittenBin, difference: String): Option[WrittenBin] =
    differing(written) match {
      case Nil =>
        ofOnePartition(written).map(same => same.copy(bin = same.bin.copy(doubt = Some(difference))))
      case columns => isOdd(written, s"$difference ${RowComparison.told(columns)}")
    }

  /** The columns in which its rows differ. Nobody else knows of the new files yet if that cannot be told. */
  private def differing(written: WrittenBin): Seq[String] =
    try comparison.differences(written.inputs.map(actionOf), written.adds)
    catch {
      // An interrupt too.
      case failure: Throwable =>
        written.remove(handle)
        throw failure
    }

  private def isOdd(written: WrittenBin, difference: String): None.type = {
    written.remove(handle)
    odd.add(written.bin.bin, difference)
    None
  }

  private def written(
      bin: Bin,
      done: SpliceOutcome.Done,
      result: SpliceTaskResult,
      stats: MergedStats.Result
  ): WrittenBin = {
    val input = actionOf(bin.files.head)
    val leaves = done.totals.fold(Map.empty[Seq[String], LeafTotals])(_.output.leaves)
    val adds =
      result.file.toSeq.map(splicer.rewriter.addFile(splicer.tasks(result.index), _, input, stats, leaves))
    val work = done.tallies.map { case (tier, tally) =>
      TierWork(tier.name, tally.bytes, tally.nanos / 1000000)
    }
    WrittenBin(
      RewrittenBin(bin, adds.map(_.size), Some(BinSplicer.rowGroupsOf(done)), work.toSeq),
      adds.map(layout.inPlaceOf(input, _)),
      Some(done.placed)
    )
  }

  private def writeRows(bins: Seq[Bin]): Iterator[WrittenBin] = {
    val threads = session.sessionState.conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_THREADS)
    val results = SideBySide.attempts(bins, "delta-upkeep-optimize", threads) { bin =>
      session.sparkContext.setJobDescription(
        s"OPTIMIZE ${handle.name}: ${CountText.of(bin.files.size, "file")} ${bin.partition.text}".trim
      )
      val started = System.nanoTime()
      val inputs = bin.files.map(actionOf)
      val adds = rows.rewrite(bin, inputs).map(layout.inPlaceOf(inputs.head, _))
      val work = TierWork("rows", bin.sizeInBytes, (System.nanoTime() - started) / 1000000)
      val written = WrittenBin(RewrittenBin(bin, adds.map(_.size), None, Seq(work)), adds, placed = None)
      rewritten.add(written)
      written
    }
    val (unreadable, others) = bins.zip(results).partitionMap {
      case (bin, Failure(InputFailures.Unreadable(why))) if layout.mayStay =>
        Left(bin.copy(tier = Tier.Rows(why)))
      case (_, result) => Right(result)
    }
    leftAlone ++= unreadable
    // Written bins are returned first, so that the caller knows them when the failure is thrown.
    (others.filter(_.isSuccess) ++ others.filter(_.isFailure)).iterator.flatMap { result =>
      val written = result.get
      val settled = rowsDifference(written).fold(Option(written))(this.settled(written, _))
      rewritten.remove(written)
      settled
    }
  }

  private def rowsDifference(written: WrittenBin): Option[String] = {
    import splicer.rewriter.statsOf
    val inputs = written.inputs.map(actionOf)
    RowsCheck.difference(statsOf(inputs), statsOf(written.adds), statsOf(inputs ++ written.adds))
  }
}
