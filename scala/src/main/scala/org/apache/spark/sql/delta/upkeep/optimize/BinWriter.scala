package org.apache.spark.sql.delta.upkeep.optimize

import scala.util.control.NonFatal

import io.deltaupkeep.{CountText, UpkeepErrors}
import io.deltaupkeep.optimize._
import io.deltaupkeep.parquet.bytes.UnreadableInput
import io.deltaupkeep.parquet.chunk.DamagedPage
import io.deltaupkeep.parquet.file.SpliceOutcome

import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.util.ThreadUtils

/** A bin whose new files are written but not committed yet. */
private[upkeep] final case class Written(bin: RewrittenBin, adds: Seq[AddFile]) {
  def inputs: Seq[DataFile] = bin.bin.files
}

/**
 * Writes the new files of a plan's bins: those that can be spliced in one Spark job, then the others row by
 * row, in one job each.
 *
 * @param actionOf Delta's action for a file
 */
private[upkeep] final class BinWriter(
    handle: DeltaHandle,
    transaction: OptimisticTransaction,
    plan: OptimizePlan,
    actionOf: DataFile => AddFile
) {
  private val session = handle.session
  private val splicer = new BinSplicer(handle, plan, actionOf)
  private val partitions = new PartitionCheck(
    handle.snapshot.metadata.physicalPartitionSchema,
    session.sessionState.conf.sessionLocalTimeZone
  )
  private lazy val rows =
    new RowRewriter(transaction, RowRewriter.strategyOf(session, handle.snapshot, plan.layout), plan)

  /** The written bins as they arrive. A failure ends the iteration. */
  def write(): ClosableIterator[Written] = {
    val running = splicer.run()
    // The driver merges statistics while the tasks run.
    val stats = splicer.bins.map(bin => splicer.rewriter.statsOf(bin.files.map(actionOf)))
    new ClosableIterator[Written] {
      private var refused = Vector.empty[Bin]
      private lazy val byRows = writeRows(splicer.needRows ++ refused)
      private var spliced = Option.empty[Written]

      override def hasNext: Boolean = {
        while (spliced.isEmpty && running.hasNext) spliced = accept(namingDamage(running.next()))
        spliced.nonEmpty || byRows.hasNext
      }

      override def next(): Written = spliced match {
        case Some(written) =>
          spliced = None
          written
        case None => byRows.next()
      }

      override def close(): Unit = running.close()

      private def namingDamage[T](body: => T): T =
        try body
        catch {
          case NonFatal(failure) => throw BinWriter.damage(failure).fold(failure) { case (file, column) =>
              UpkeepErrors.dataFileDamaged(handle.name, file, column, failure)
            }
        }

      private def accept(result: SpliceTaskResult): Option[Written] = {
        val bin = splicer.bins(result.index)
        result.outcome match {
          case done: SpliceOutcome.Done => checked(bin, done, result, stats(result.index))
          case SpliceOutcome.Refused(reason) =>
            refused :+= bin.copy(tier = Tier.Rows(reason))
            None
        }
      }

      private def checked(
          bin: Bin,
          done: SpliceOutcome.Done,
          result: SpliceTaskResult,
          stats: MergedStats.Result
      ): Option[Written] = {
        val rewritten = written(bin, done, result, stats)
        val verdict = done.totals match {
          case Some(totals) => splicer.rewriter.check(stats, totals)
          case None => RewriteCheck.ofNoRows(stats)
        }
        verdict match {
          case RewriteCheck.Same => Some(ofOnePartition(rewritten))
          case RewriteCheck.InputsDisagree(reason) =>
            NewFiles.remove(handle, rewritten.adds)
            refused :+= bin.copy(tier = Tier.Rows(reason))
            None
          case RewriteCheck.Differs(difference) => mismatch(rewritten, difference)
        }
      }
    }
  }

  private def ofOnePartition(written: Written): Written =
    partitions.difference(written.inputs.map(actionOf)).fold(written)(mismatch(written, _))

  private def mismatch(written: Written, difference: String): Nothing = {
    NewFiles.remove(handle, written.adds)
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
    val bounded = done.totals.fold(Set.empty[Seq[String]])(_.bounded)
    val adds =
      result.file.toSeq.map(splicer.rewriter.addFile(splicer.tasks(result.index), _, input, stats, bounded))
    val work = done.tallies.map { case (tier, tally) =>
      TierWork(tier.name, tally.bytes, tally.nanos / 1000000)
    }
    Written(
      RewrittenBin(
        bin.copy(tier = BinSplicer.tierOf(done)),
        adds.map(_.size),
        BinSplicer.rowGroupsOf(done),
        work.toSeq
      ),
      adds
    )
  }

  private def writeRows(bins: Seq[Bin]): Iterator[Written] = {
    val threads = session.sessionState.conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_THREADS)
    val results = ThreadUtils.parmap(bins, "delta-upkeep-optimize", threads) { bin =>
      session.sparkContext.setJobDescription(
        s"OPTIMIZE ${handle.name}: ${CountText.of(bin.files.size, "file")} ${bin.partition.text}".trim
      )
      scala.util.Try {
        val started = System.nanoTime()
        val adds = rows.rewrite(bin, bin.files.map(actionOf))
        val work = TierWork("rows", bin.sizeInBytes, (System.nanoTime() - started) / 1000000)
        val written = Written(RewrittenBin(bin, adds.map(_.size), None, Seq(work)), adds)
        RewriteCheck.rowDifference(rowsOf(bin), rowsOf(adds)).fold(written)(mismatch(written, _))
      }
    }
    // Written bins are returned first, so that the caller knows them when the failure is thrown.
    (results.filter(_.isSuccess) ++ results.filter(_.isFailure)).iterator.map(_.get)
  }
}

private[upkeep] object BinWriter {

  /** The file and the column of a damaged page, if a job failed because of one. */
  private def damage(failure: Throwable): Option[(String, String)] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).collectFirst {
      case unreadable: UnreadableInput if unreadable.getCause.isInstanceOf[DamagedPage] =>
        unreadable.file -> unreadable.getCause.asInstanceOf[DamagedPage].column
    }
}
