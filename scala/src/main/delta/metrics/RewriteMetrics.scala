package org.apache.spark.sql.delta.upkeep.metrics

import com.codahale.metrics.{Counter, MetricRegistry}

import io.deltaupkeep.plan.compact.{RewrittenBin, RowsCause, Tier}

/** What OPTIMIZE, REORG, MAINTAIN and auto-compaction rewrote. Dry runs are not counted. */
private[upkeep] final class RewriteMetrics(registry: MetricRegistry) {

  private def counter(name: String): Counter = registry.counter(s"optimize.$name")

  private val commits = counter("commits")
  private val filesIn = counter("filesIn")
  private val bytesIn = counter("bytesIn")
  private val filesOut = counter("filesOut")
  private val bytesOut = counter("bytesOut")
  private val committedBins = counter("bins.committed")
  private val rebased = counter("bins.rebased")
  private val tiers = Tier.names.map(tier => tier -> counter(s"tier.$tier.bytes")).toMap
  private val rowsCauses = RowsCause.all.map(cause => cause -> counter(s"rowsTier.${cause.name}")).toMap

  /** Commits that another writer's commit made impossible. */
  val conflicts: Counter = counter("conflicts")

  /** Bins that were dropped because another writer changed their files. */
  val lost: Counter = counter("bins.lost")

  /** Bins that stay as they are, because they cannot be spliced or read. */
  val left: Counter = counter("bins.left")

  /** Bins whose new files would differ from their inputs. */
  val mismatched: Counter = counter("bins.mismatched")

  def committed(bins: Seq[RewrittenBin]): Unit = {
    commits.inc()
    bins.foreach { rewritten =>
      val bin = rewritten.bin
      committedBins.inc()
      filesIn.inc(bin.files.size.toLong)
      bytesIn.inc(bin.sizeInBytes)
      filesOut.inc(rewritten.addedSizes.size.toLong)
      bytesOut.inc(rewritten.addedSizes.sum)
      if (rewritten.lateRows > 0) rebased.inc()
      rewritten.work.foreach(work => tiers(work.tier).inc(work.bytes))
      bin.tier match {
        case Tier.Rows(_, cause) => rowsCauses(cause).inc(bin.files.size.toLong)
        case _ => ()
      }
    }
  }
}
