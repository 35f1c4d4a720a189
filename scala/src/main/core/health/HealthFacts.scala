package io.deltaupkeep.health

import io.deltaupkeep.{FileTotal, TableFacts}
import io.deltaupkeep.plan.checkpoint.{HookOutcome, SinceCheckpoint}
import io.deltaupkeep.plan.cleanup.CleanupPlan
import io.deltaupkeep.plan.cluster.ClusterQuality
import io.deltaupkeep.plan.compact.OptimizePlan

/** The newest complete checkpoint: its layout in words, and when it was written, in milliseconds since the epoch. */
final case class NewestCheckpoint(version: Long, layout: String, writtenAt: Long)

/**
 * What a reader without a cached snapshot loads.
 *
 * @param checkpoint the files of the newest checkpoint, sidecars included
 * @param commits    those since
 */
final case class LoadCost(checkpoint: FileTotal, commits: FileTotal)

/**
 * What the footers of some files say.
 *
 * @param files       files whose footers were read
 * @param rowGroups   compressed sizes of their row groups, in bytes
 * @param footerBytes of all their footers
 * @param miscounted  how many have another number of rows than the log says
 * @param unreadable  why some of them cannot be read, each with its name
 */
final case class FooterSample(
    files: Int,
    rowGroups: Seq[Long],
    footerBytes: Long,
    miscounted: Long,
    unreadable: Seq[String]
)

/**
 * What some files take, and would take with other codecs, in bytes.
 *
 * @param files  files with pages that were compressed again
 * @param stored what the sampled columns of these files take
 * @param codecs what they would take, by the name of a codec
 * @param found  the codecs that they have
 * @param asked  the codec that the table asks for, if it does
 * @param unreadable why pages of some files cannot be read
 */
final case class CodecSample(
    files: Int,
    stored: Long,
    codecs: Map[String, Long],
    found: Set[String],
    asked: Option[String],
    unreadable: Seq[String] = Nil
)

/**
 * Files in the table's directory that no version inside the retention names, or why they were not searched
 * for.
 */
sealed trait Orphans

object Orphans {
  final case class Found(total: FileTotal) extends Orphans
  final case class NotLookedFor(reason: String) extends Orphans
}

/**
 * All input of the checks: the table and its files, what OPTIMIZE and CLEANUP LOG would do, and the log.
 *
 * @param clustering    how well it is clustered, if it has an order
 * @param withoutStatistics files that lack some of the statistics that the table collects
 * @param checkpointDue why MAINTAIN would write a checkpoint, if it would
 * @param now           in milliseconds since the epoch
 */
final case class HealthFacts(
    table: TableFacts,
    files: FileSummary,
    optimize: OptimizePlan,
    footers: FooterSample,
    codecs: CodecSample,
    clustering: Option[ClusterQuality],
    withoutStatistics: FileTotal,
    orphans: Orphans,
    cleanup: CleanupPlan,
    checkpoint: Option[NewestCheckpoint],
    since: SinceCheckpoint,
    checkpointDue: Option[String],
    load: LoadCost,
    hook: Option[HookOutcome],
    now: Long
)
