package org.apache.spark.sql.delta.upkeep.read

import scala.util.Try
import scala.util.control.NonFatal

import io.deltaupkeep.CountText

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.{CheckpointProvider, DeltaConfigs, LastCheckpointInfo, VersionChecksum}
import org.apache.spark.sql.delta.actions.{Action, DomainMetadata, Metadata, Protocol, SetTransaction}
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}

/** Whether a checkpoint holds all of its version. */
private[upkeep] sealed trait Wholeness

private[upkeep] object Wholeness {
  case object Whole extends Wholeness

  /**
   * Something is missing, or nobody can read one of its files.
   *
   * @param isReadable whether its files are as they were written: its writer left something out, which readers do
   *                   not notice
   */
  final case class Damaged(why: String, isReadable: Boolean = false) extends Wholeness

  /** Nothing proves that it is complete. */
  final case class Unproved(why: String) extends Wholeness
}

/**
 * The one test of whether a checkpoint is whole, for everything that relies on one: CHECKPOINT, for an existing
 * checkpoint of its version and for the last one that it builds on, and CLEANUP LOG, before it deletes older files.
 *
 * Files are counted from the footers. A Parquet file ends with its footer, so one that has it is complete. A JSON
 * file may be cut off at the end of a line: `_last_checkpoint`, the version's checksum, the current table or the
 * earlier log has to prove that it is not.
 */
private[upkeep] final class WholeCheckpoint(handle: DeltaHandle) extends Logging {
  import WholeCheckpoint._
  import Wholeness._

  private val snapshot = handle.snapshot
  private lazy val pointer = new CheckpointPointer(handle).info
  private lazy val logBelow = new LogBelow(handle)

  /**
   * Reads the footers of a checkpoint, and its top-level file. Throws if the store is at fault.
   *
   * @param pages whether the page checksums of its Parquet files are verified too
   */
  def check(version: Long, checkpoint: => CheckpointProvider, pages: Boolean = false): Wholeness =
    judged(version) {
      val found = checkpoint
      def sidecars = CheckpointFiles.sidecars(found)
      if (pages) checkPages(version, found.topLevelFiles, sidecars)
      else judge(version, found.topLevelFiles, sidecars)
    }

  /** The same for the checkpoint that some files of the log make. */
  def checkFiles(version: Long, files: Seq[FileStatus], pages: Boolean): Wholeness =
    check(version, CheckpointFiles.checkpoint(handle, files), pages)

  /** The same for the files of a checkpoint. */
  def check(version: Long, topLevel: Seq[FileStatus], sidecars: Seq[FileStatus]): Wholeness =
    judged(version)(judge(version, topLevel, sidecars))

  /** The same, and verifies the page checksums of its Parquet files: for use before older files are deleted. */
  def checkPages(version: Long, topLevel: Seq[FileStatus], sidecars: Seq[FileStatus]): Wholeness =
    check(version, topLevel, sidecars) match {
      case Whole =>
        judged(version) {
          val inParquet = (topLevel ++ sidecars).filter(_.getPath.getName.endsWith(".parquet"))
          CheckpointFooter.verifyPages(inParquet, handle.hadoopConf)
          Whole
        }
      case flawed => flawed
    }

  private def judged(version: Long)(judge: => Wholeness): Wholeness =
    try judge
    catch {
      case NonFatal(e) =>
        val why = InputFailures.damageOfLog(e).getOrElse(throw e)
        logWarning(s"The checkpoint of version $version of ${handle.name} cannot be read", e)
        Damaged(why)
    }

  private def judge(version: Long, topLevel: Seq[FileStatus], sidecars: => Seq[FileStatus]): Wholeness = {
    val contents = CheckpointContent.of(handle, topLevel, sidecars)
    val checksum =
      if (version == snapshot.version) snapshot.checksumOpt
      else snapshot.deltaLog.readChecksum(version, None)
    val named = pointer.filter(isOf(_, version, topLevel))
    def damage = ofItself(contents).orElse(checksum.flatMap(inFiles(contents, _)))
      .orElse(named.flatMap(against(contents, _, topLevel)))
    def omission = checksum.flatMap(inOthers(contents, _))
    def doubt = lackingDomains(contents, checksum).orElse(unprovedEnd(contents, version, checksum, named))
    damage.map(Damaged(_))
      .orElse(omission.map(Damaged(_, isReadable = !contents.isJson)))
      .orElse(doubt.map(Unproved(_)))
      .getOrElse(Whole)
  }

  /**
   * Whether `_last_checkpoint` is about this file and counts what it holds. For classic checkpoints some writers
   * give other numbers: delta-rs gave the bytes until June 2023 (its issue 1468), Delta Kernel gives the files.
   */
  private def isOf(info: LastCheckpointInfo, version: Long, topLevel: Seq[FileStatus]): Boolean =
    info.version == version &&
      info.v2Checkpoint.exists(v2 => topLevel.map(_.getPath.getName) == Seq(v2.path))

  private def ofItself(of: CheckpointContent): Option[String] =
    Option.when(!of.hasItsForm)("it has no checkpointMetadata action, or several")
      .orElse(Option.when(of.protocols == 0 || of.metadata == 0)("it has no protocol, or no metadata"))
      .orElse(Option.unless(of.hasSidecarSchema)("the schema of its sidecars cannot be read"))
      .orElse(of.addsByItself.filter(_ != of.adds).map(lacksFiles(of, _)))
      .orElse(of.sidecarActionsByItself.filter(_ != of.sidecarActions).map { expected =>
        s"its sidecars hold ${CountText.of(of.sidecarActions, "action")}, but it counts $expected"
      })

  private def inFiles(of: CheckpointContent, checksum: VersionChecksum): Option[String] =
    Option.when(of.adds != checksum.numFiles)(lacksFiles(of, checksum.numFiles))

  private def inOthers(of: CheckpointContent, checksum: VersionChecksum): Option[String] =
    lacks(of.domains, checksum.domainMetadata.map(_.count(!_.removed)), "domain")
      .orElse(lacks(of.txns, transactions(checksum), "application"))

  private def against(
      of: CheckpointContent,
      info: LastCheckpointInfo,
      topLevel: Seq[FileStatus]
  ): Option[String] =
    info.v2Checkpoint.map(_.sizeInBytes).filter(_ != topLevel.map(_.getLen).sum).map { bytes =>
      s"it takes ${topLevel.map(_.getLen).sum} bytes, but _last_checkpoint says $bytes"
    }.orElse(Option.when(of.actions < info.size) {
      s"it holds ${CountText.of(of.actions, "action")}, but _last_checkpoint says ${info.size}"
    })

  private def lacksFiles(of: CheckpointContent, expected: Long): String =
    s"it holds ${CountText.of(of.adds, "file")}, but the table has $expected"

  private def lacks(found: Long, expected: Option[Int], what: String): Option[String] =
    expected.filter(_ > found).map(count =>
      s"it holds ${CountText.of(found, what)}, but the table has $count"
    )

  /** The number of applications in a checkpoint, which leaves out expired ones. */
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

  /** Why the last lines of a JSON file may be missing, or None. */
  private def unprovedEnd(
      of: CheckpointContent,
      version: Long,
      checksum: Option[VersionChecksum],
      named: Option[LastCheckpointInfo]
  ): Option[String] = {
    def isCounted = checksum.exists(sum => sum.domainMetadata.nonEmpty && sum.setTransactions.nonEmpty)
    def isNamed = named.exists(_.v2Checkpoint.nonEmpty)
    Option.when(of.isJson && !isNamed && !isCounted && !holdsWhatTheTableHas(of, version)) {
      "it is a JSON file, and neither _last_checkpoint nor a checksum says what it has to contain"
    }
  }

  /**
   * Whether it holds each application and domain that the table has now, or that the earlier log has: then readers
   * that start from it lose nothing.
   */
  private def holdsWhatTheTableHas(of: CheckpointContent, version: Long): Boolean = {
    lazy val applications = of.nonFileActions.collect { case txn: SetTransaction => txn.appId }.toSet
    lazy val domains = of.nonFileActions.collect { case domain: DomainMetadata => domain.domain }.toSet
    def holds(all: Seq[Action]): Boolean = all.forall {
      case txn: SetTransaction => applications(txn.appId)
      case domain: DomainMetadata => domains(domain.domain)
      case _ => true
    }
    // The last of them replays the whole table.
    Iterator(() => countedToday, () => logBelow.nonFileActions(version), () => replayedToday(version))
      .exists(_().exists(holds))
  }

  private def countedToday: Option[Seq[Action]] = for {
    checksum <- snapshot.checksumOpt
    transactions <- checksum.setTransactions
    domains <- checksum.domainMetadata
  } yield transactions ++ domains

  private def replayedToday(version: Long): Option[Seq[Action]] =
    // The newer checkpoint may be damaged.
    if (snapshot.checkpointProvider.version > version)
      Try(snapshot.setTransactions ++ snapshot.domainMetadata).toOption
    else None
}

private object WholeCheckpoint {
  private val DomainFeatures = Seq("clustering", "rowTracking")
}
