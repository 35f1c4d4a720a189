package org.apache.spark.sql.delta.upkeep.log

import scala.util.Try
import scala.util.control.NonFatal

import io.deltaupkeep.CountText

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.{CheckpointProvider, DeltaConfigs, LastCheckpointInfo, VersionChecksum}
import org.apache.spark.sql.delta.actions.{DomainMetadata, Metadata, Protocol, SetTransaction}
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}

/** Whether a checkpoint holds all of its version. */
private[upkeep] sealed trait Wholeness

private[upkeep] object Wholeness {
  case object Whole extends Wholeness

  /** Something is missing, or a file cannot be read whoever tries. */
  final case class Damaged(why: String) extends Wholeness

  /** Nothing shows that all is there. */
  final case class Unproved(why: String) extends Wholeness
}

/**
 * The one test of whether a checkpoint is whole, for everything that builds on one: CHECKPOINT, whether its
 * version has one or it starts from the last one, and CLEANUP LOG, before it deletes what came before.
 *
 * Files are counted by the footers. A Parquet file ends with its footer, so it is all there. A file in JSON
 * may be cut off at the end of a line: `_last_checkpoint`, the version's checksum or the table of today has to
 * show that it is not.
 */
private[upkeep] final class WholeCheckpoint(handle: DeltaHandle) extends Logging {
  import WholeCheckpoint._
  import Wholeness._

  private val snapshot = handle.snapshot
  private lazy val pointer = new CheckpointPointer(handle).info

  /** Reads the footers of a checkpoint, and its top-level file. Throws if the store is at fault. */
  def check(version: Long, checkpoint: => CheckpointProvider): Wholeness = judged(version) {
    judge(version, checkpoint.topLevelFiles, LastCheckpoint.sidecarsOf(checkpoint))
  }

  /** The same for the files of a checkpoint. */
  def check(version: Long, topLevel: Seq[FileStatus], sidecars: Seq[FileStatus]): Wholeness =
    judged(version)(judge(version, topLevel, sidecars))

  private def judged(version: Long)(judge: => Wholeness): Wholeness =
    try judge
    catch {
      case NonFatal(e) =>
        val why = InputFailures.damageOfLog(e).getOrElse(throw e)
        logWarning(s"The checkpoint of version $version of ${handle.name} cannot be read", e)
        Damaged(why)
    }

  private def judge(version: Long, topLevel: Seq[FileStatus], sidecars: Seq[FileStatus]): Wholeness = {
    val contents = CheckpointContent.of(handle, topLevel, sidecars)
    val checksum =
      if (version == snapshot.version) snapshot.checksumOpt
      else snapshot.deltaLog.readChecksum(version, None)
    val named = pointer.filter(isOf(_, version, topLevel))
    val flaws = ofItself(contents) ++ checksum.flatMap(against(contents, _)) ++
      named.flatMap(against(contents, _, topLevel))
    flaws.headOption.map(Damaged(_)).getOrElse {
      (lackingDomains(contents, checksum) ++ unprovedEnd(contents, version, checksum, named)).headOption
        .fold[Wholeness](Whole)(Unproved(_))
    }
  }

  /** Whether `_last_checkpoint` is about these files. */
  private def isOf(info: LastCheckpointInfo, version: Long, topLevel: Seq[FileStatus]): Boolean =
    info.version == version && info.parts.getOrElse(1) == topLevel.size &&
      info.v2Checkpoint.forall(v2 => topLevel.map(_.getPath.getName) == Seq(v2.path))

  private def ofItself(of: CheckpointContent): Option[String] =
    Option.when(of.protocols == 0 || of.metadata == 0)("it has no protocol, or no metadata")
      .orElse(of.addsByItself.filter(_ != of.adds).map(lacksFiles(of, _)))
      .orElse(of.sidecarActionsByItself.filter(_ != of.sidecarActions).map { expected =>
        s"its sidecars hold ${CountText.of(of.sidecarActions, "action")}, where it counts $expected"
      })

  private def against(of: CheckpointContent, checksum: VersionChecksum): Option[String] =
    Option.when(of.adds != checksum.numFiles)(lacksFiles(of, checksum.numFiles))
      .orElse(lacks(of.domains, checksum.domainMetadata.map(_.count(!_.removed)), "domain"))
      .orElse(lacks(of.txns, transactions(checksum), "application"))

  private def against(
      of: CheckpointContent,
      info: LastCheckpointInfo,
      topLevel: Seq[FileStatus]
  ): Option[String] =
    info.v2Checkpoint.map(_.sizeInBytes).filter(_ != topLevel.map(_.getLen).sum).map { bytes =>
      s"it takes ${topLevel.map(_.getLen).sum} bytes, where _last_checkpoint says $bytes"
    }.orElse(Option.when(of.actions < info.size) {
      s"it holds ${CountText.of(of.actions, "action")}, where _last_checkpoint says ${info.size}"
    })

  private def lacksFiles(of: CheckpointContent, expected: Long): String =
    s"it holds ${CountText.of(of.adds, "file")}, where the table has $expected"

  private def lacks(found: Long, expected: Option[Int], what: String): Option[String] =
    expected.filter(_ > found).map(count =>
      s"it holds ${CountText.of(found, what)}, where the table has $count"
    )

  /** Applications that a checkpoint holds: it leaves out those that have expired. */
  private def transactions(checksum: VersionChecksum): Option[Int] = checksum.setTransactions.map { all =>
    snapshot.minSetTransactionRetentionTimestamp.fold(all.size) { oldest =>
      all.count(_.lastUpdated.exists(_ > oldest))
    }
  }

  /** Some writers leave out domains, which hold the columns of CLUSTER BY and the mark of row ids. */
  private def lackingDomains(of: CheckpointContent, checksum: Option[VersionChecksum]): Option[String] = {
    val areCounted = checksum.exists(_.domainMetadata.nonEmpty)
    val mayNeed = DomainFeatures.exists(snapshot.protocol.writerFeatureNames.contains)
    Option.when(of.domains == 0 && !areCounted && mayNeed && needsDomains(of)) {
      "it has no domains, which tables with clustering or row ids need"
    }
  }

  private def needsDomains(of: CheckpointContent): Boolean = {
    val actions = of.nonFileActions
    actions.exists {
      case protocol: Protocol => ClusteredTableUtils.isSupported(protocol)
      case metadata: Metadata => of.adds > 0 && DeltaConfigs.ROW_TRACKING_ENABLED.fromMetaData(metadata)
      case _ => false
    }
  }

  /** Whether nothing shows that the last lines of a file in JSON are there. */
  private def unprovedEnd(
      of: CheckpointContent,
      version: Long,
      checksum: Option[VersionChecksum],
      named: Option[LastCheckpointInfo]
  ): Option[String] = {
    def isCounted = checksum.exists(sum => sum.domainMetadata.nonEmpty && sum.setTransactions.nonEmpty)
    def isNamed = named.exists(_.v2Checkpoint.nonEmpty)
    Option.when(of.isJson && !isNamed && !isCounted && !holdsWhatTheTableHas(of, version)) {
      "it is a file in JSON, and neither _last_checkpoint nor a checksum says what it has to hold"
    }
  }

  /**
   * Whether it holds each application and domain of the table of today, as far as that is known without this
   * checkpoint.
   */
  private def holdsWhatTheTableHas(of: CheckpointContent, version: Long): Boolean = {
    lazy val applications = of.nonFileActions.collect { case txn: SetTransaction => txn.appId }.toSet
    lazy val domains = of.nonFileActions.collect { case domain: DomainMetadata => domain.domain }.toSet
    ofToday(version).exists { case (transactions, metadata) =>
      transactions.forall(txn => applications(txn.appId)) && metadata.forall(one => domains(one.domain))
    }
  }

  private def ofToday(version: Long): Option[(Seq[SetTransaction], Seq[DomainMetadata])] = {
    def counted = for {
      checksum <- snapshot.checksumOpt
      transactions <- checksum.setTransactions
      domains <- checksum.domainMetadata
    } yield (transactions, domains)
    // The newer checkpoint may be damaged.
    def replayed = Try((snapshot.setTransactions, snapshot.domainMetadata)).toOption
    counted.orElse(if (snapshot.checkpointProvider.version > version) replayed else None)
  }
}

private object WholeCheckpoint {
  private val DomainFeatures = Seq("clustering", "rowTracking")
}
