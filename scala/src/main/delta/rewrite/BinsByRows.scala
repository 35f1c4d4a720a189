package org.apache.spark.sql.delta.upkeep.rewrite

import java.util.concurrent.ConcurrentHashMap

import scala.util.{Failure, Success, Try}

import io.deltaupkeep.{CountText, SideBySide, UnreadableInput}
import io.deltaupkeep.parquet.file.FileFooters
import io.deltaupkeep.plan.compact.{Bin, DataFile, OptimizePlan, RewrittenBin, RowsCause, Tier, TierWork}
import io.deltaupkeep.stats.{MergedStats, RowsCheck}

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.spark.FileJob
import org.apache.spark.sql.delta.upkeep.splice.{HadoopInput, SpliceInput}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}

/**
 * Bins that are written row by row, in one Spark job each.
 *
 * @param statsOf  what the log says of files
 * @param actionOf Delta's action for a file
 */
private[rewrite] final class BinsByRows(
    handle: DeltaHandle,
    layout: RewriteLayout,
    plan: OptimizePlan,
    settlement: Settlement,
    statsOf: Seq[AddFile] => MergedStats.Result,
    actionOf: DataFile => AddFile
) extends AutoCloseable {
  private val session = handle.session
  private lazy val rows = new RowRewriter(handle, layout, plan)

  /** Written, and not taken yet. */
  private val pending = ConcurrentHashMap.newKeySet[WrittenBin]()

  /** Runs all of the jobs. The outcomes come first, and then the first failure, if there is one. */
  def write(bins: Seq[Bin]): Iterator[BinOutcome.Final] = {
    val threads = session.sessionState.conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_THREADS)
    val results = bins.zip(SideBySide.attempts(bins, "delta-upkeep-optimize", threads)(rewrite))
    val (done, failed) = results.map { case (bin, result) => outcome(bin, result) }.partition(_.isSuccess)
    (done ++ failed).iterator.map(_.get())
  }

  private def rewrite(bin: Bin): WrittenBin = {
    session.sparkContext.setJobDescription(
      s"OPTIMIZE ${handle.name}: ${CountText.of(bin.files.size, "file")} ${bin.partition.text}".trim
    )
    val started = System.nanoTime()
    val inputs = bin.files.map(actionOf)
    val adds = rows.rewrite(bin, inputs).map(InPlace.of(bin, inputs.head, _))
    val work = TierWork("rows", bin.sizeInBytes, (System.nanoTime() - started) / 1000000)
    val written = WrittenBin(RewrittenBin(bin, adds.map(_.size), None, Seq(work)), adds, Placement.Unknown)
    pending.add(written)
    written
  }

  /** The outcome of a bin, which is checked when it is asked for. */
  private def outcome(bin: Bin, result: Try[WrittenBin]): Try[() => BinOutcome.Final] = result match {
    case Failure(failure) if InputFailures.isUnnamed(failure) =>
      damagedIn(bin).fold(outcomeOf(bin, result)) { file =>
        outcomeOf(bin, Failure(new UnreadableInput(file, failure, ofSplice = false)))
      }
    case _ => outcomeOf(bin, result)
  }

  private def outcomeOf(bin: Bin, result: Try[WrittenBin]): Try[() => BinOutcome.Final] = result match {
    case Failure(InputFailures.Unreadable(why)) if layout.mayStay =>
      Success(() => BinOutcome.Left(bin.copy(tier = Tier.Rows(why, RowsCause.File))))
    case Failure(InputFailures.Damaged(why)) if bin.mayStay =>
      Success(() => BinOutcome.Left(bin.copy(tier = Tier.Rows(why, RowsCause.Malformed))))
    case other => other.map(written => () => checked(written))
  }

  /** The first file of a bin whose footer is damaged. */
  private def damagedIn(bin: Bin): Option[String] = {
    val inputs = bin.files.map(file =>
      SpliceInput.of(handle.path, file.path, file.sizeInBytes, file.modificationTime)
    )
    val description = s"OPTIMIZE ${handle.name}: footers of ${CountText.of(inputs.size, "file")}"
    val found = new FileJob(handle.session.sparkContext, handle.hadoopConf).map(
      inputs,
      description,
      "delta-upkeep-footers"
    ) { () =>
      val footers = new FileFooters
      (input, conf) =>
        try
          footers.rows(new HadoopInput(input, HadoopInput.RandomAccess, conf)).fold(_.isMalformed, _ => false)
        catch { case unread: UnreadableInput => InputFailures.damageOf(unread).nonEmpty }
    }
    inputs.zip(found).collectFirst { case (input, true) => input.uri }
  }

  private def checked(written: WrittenBin): BinOutcome.Final = {
    val outcome = difference(written).fold(BinOutcome.Written(written): BinOutcome.Final)(
      settlement.settled(written, _)
    )
    pending.remove(written)
    outcome
  }

  private def difference(written: WrittenBin): Option[String] = {
    val inputs = written.inputs.map(actionOf)
    RowsCheck.difference(statsOf(inputs), statsOf(written.adds), statsOf(inputs ++ written.adds))
  }

  /** Removes the files of bins that were not taken. */
  override def close(): Unit = pending.forEach(_.remove(handle))
}
