package org.apache.spark.sql.delta.upkeep.vacuum

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, TimeUnit}
import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import io.deltaupkeep.{SideBySide, UpkeepErrors}
import io.deltaupkeep.log.{CommitTimes, KnownRemovals, ListedFiles, LogFileKind, LogListing}
import io.deltaupkeep.plan.cleanup.{Cutoff, Verdict}
import io.deltaupkeep.plan.vacuum._
import io.deltaupkeep.store.{Deletions, FileDeleter, TableListing}

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.delta.upkeep.metrics.UpkeepMetrics
import org.apache.spark.sql.delta.upkeep.read.{DeltaLogReader, DriverBytes}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * One VACUUM: its plan, and its execution. The driver holds 8 bytes for each file of the table, and a few hundred for
 * each that no version inside retention needs.
 */
final case class TableVacuum(table: DeltaHandle, settings: VacuumSettings) {
  import TableVacuum._

  private val snapshot = table.snapshot
  private val root = snapshot.deltaLog.dataPath
  private val fileSystem = root.getFileSystem(table.hadoopConf)
  private val names = new FileNames(root, root)
  private val now = table.now
  // Delta's moves with the clock.
  private val cutoff = settings.askedMs.fold(snapshot.minFileRetentionTimestamp)(now - _)
  // Clocks may differ by so much.
  private val latest = now + TimeUnit.DAYS.toMillis(1)
  private val lastListing = VacuumNote.lastListing(table)

  private lazy val log: ListedFiles = LogListing.of(fileSystem, table.logPath)
  private lazy val commits = CommitTimes.of(log.iterator)
  private lazy val removals = KnownRemovals.of(log)
  private lazy val oldestCommit: Long = removals.oldestCommit.getOrElse(snapshot.version)

  /** The newest version that is not newer than the cutoff: all its files are kept, and those of newer versions. */
  private lazy val oldestVersion: Option[Long] = {
    val ownTime = Option.when(table.facts.inCommitTimestamps)(new DeltaLogReader(table).inCommitTimestamp _)
    // Later ones came since the table was opened.
    Cutoff.commit(commits, cutoff, ownTime).map(math.min(_, snapshot.version))
  }

  private lazy val past = KnownPast(removals, VacuumNote.seenVersion(table), oldestVersion)

  /**
   * @throws io.deltaupkeep.UpkeepException `COMMITS_CLEANED_UP`, `RETENTION_EXCEEDS_LOG`, `CLONE_NOT_READABLE`,
   *                                        `INVENTORY_NOT_READABLE`
   */
  lazy val plan: VacuumPlan = {
    val source = VacuumSource.choose(settings.mode, past)(tooMany).getOrElse {
      throw UpkeepErrors.commitsCleanedUp(table.name, removals.oldest.getOrElse(oldestCommit))
    }
    val changes = new CommitChanges(table, log)
    // The log may be large, so it is not replayed for nothing.
    val needed =
      if (source.finds)
        new NamedFiles(table, names, cutoff, latest).find(changes)(isInside)
          .copy(ofClones = new CloneNames(table).of(settings.keepFor))
      else TableNames.None
    val found = new FoundFiles(needed)
    val inLog = new FilesInLog(changes, names, commits, cutoff, latest)
    val directories = source.mode match {
      case VacuumMode.Full => list(found, needed.size)
      case VacuumMode.Inventory =>
        settings.inventory.foreach(readInventory(_, found, needed))
        0L
      case VacuumMode.Log =>
        source.versions.foreach { case (first, until) => inLog.between(first, until).foreach(found.add) }
        0L
    }
    val isListing = source.mode == VacuumMode.Full
    val verdicts = VacuumPlan.limited(found.verdicts, settings)(if (isListing) identity else present)
    val until = source.mode match {
      case VacuumMode.Log =>
        (inLog.firstSkipped.map(_ - 1) ++ past.last).minOption
      // A listing does not say which commits removed the files that it leaves.
      case VacuumMode.Full => past.last.filterNot(_ => needed.hasLateRemovals)
      // It may be old, or a part of the table.
      case VacuumMode.Inventory => None
    }
    VacuumPlan(cutoff, source, verdicts, found.named, directories, until)
  }

  /** Whether the directories have to be listed, if that is to be done once in a while. */
  def isListingDue(everyMs: Long): Boolean =
    !lastListing.read.exists(last => last <= now && now - last < everyMs)

  def files(): Seq[VacuumResult] = plan.verdicts.map(VacuumResult.file(root.toString, _, now))

  def planned(): VacuumResult = VacuumResult.planned(root.toString, plan, oldestVersion)

  /** @throws io.deltaupkeep.UpkeepException `DATA_FILE_NOT_DELETED` */
  def execute(): VacuumResult = {
    val history = new VacuumHistory(table, settings.askedMs)
    history.started(plan.deletions.size.toLong, plan.deletedBytes)
    val (checked, deletions) =
      try delete()
      catch {
        case thrown: Throwable =>
          try history.failed()
          catch { case NonFatal(e) => thrown.addSuppressed(e) }
          throw thrown
      }
    note(checked)
    // With a longer retention, files are left that the table's own does not keep.
    if (checked.hasListedAll && settings.askedMs.forall(_ <= table.facts.deletedFileRetentionMs))
      lastListing.write(now)
    history.completed(deletions.files, checked.directories)
    VacuumResult.totals(root.toString, checked, deletions, oldestVersion, history.unwritten)
  }

  /** Spares a later run what this one has read, if nothing is to be deleted. */
  def note(): Unit = note(plan)

  private def note(done: VacuumPlan): Unit =
    // Another VACUUM may have left a newer one meanwhile.
    done.seenUntil.filter(seen => VacuumNote.seenVersion(table).forall(_ < seen))
      .foreach(VacuumNote.lastVersion(table).write)

  /** Returns the plan without what commits named meanwhile, and what was deleted. */
  private def delete(): (VacuumPlan, Deletions) =
    Using.resource(
      new FileDeleter[FoundFile](
        fileSystem,
        root,
        table.name,
        settings.threads,
        pathOf,
        _.sizeInBytes
      )
    ) { deleter =>
      try {
        val meanwhile = new NamedMeanwhile(table, names)
        val (directories, files) = plan.deletions.partition(_.isDirectory)
        // RESTORE may bring files back at any time: it looks for them first, and commits later.
        val unnamed = files.iterator.grouped(FilesOfLook).flatMap { some =>
          meanwhile.look()
          some.filterNot(file => meanwhile.names(file.path))
        }
        val (unnameable, failed) = deleter.delete(unnamed, MostFailures).partition(_.isBadName)
        // Somebody may have written into a directory meanwhile: then it is left alone.
        deleter.delete(directories.iterator, Int.MaxValue)
        failed.headOption.foreach { first =>
          throw UpkeepErrors.dataFileNotDeleted(
            table.name,
            first.file.path,
            first.problem,
            failed.size,
            deleter.deleted.files,
            first.thrown
          )
        }
        val left = unnameable.map(_.file.path).toSet
        def reasonToStay(file: String) =
          if (left(file)) Some(VacuumReason.BadName)
          else Option.when(meanwhile.names(file))(VacuumReason.NamedMeanwhile)
        (plan.without(reasonToStay), deleter.deleted)
      } finally UpkeepMetrics.of(table).vacuum.deleted(deleter.deleted)
    }

  private def pathOf(file: FoundFile): Path = names.pathOf(file.path)

  private def list(found: FoundFiles, expected: Long): Long = {
    def foundFile(status: FileStatus): Option[FoundFile] = names.below(status.getPath).map { name =>
      FoundFile(name, if (status.isFile) status.getLen else 0, status.getModificationTime, status.isDirectory)
    }
    def isHidden(path: Path): Boolean = {
      if (path.getName == table.logPath.getName) names.below(path.getParent).foreach(found.addTable)
      DeltaApi.current.isHidden(snapshot.metadata, path.getName)
    }
    new TableListing(fileSystem, root, isHidden, settings.threads, expected)
      .foreach(foundFile(_).foreach(found.add), foundFile(_).foreach(found.add))
  }

  private def readInventory(inventory: String, found: FoundFiles, needed: TableNames): Unit = {
    def isHidden(file: FoundFile) =
      file.path.split('/').exists(DeltaApi.current.isHidden(snapshot.metadata, _))
    def isDue(file: FoundFile) =
      !isHidden(file) && VacuumPlan.reason(file, needed, cutoff).exists(_.verdict == Verdict.Delete)
    new InventoryFiles(table, names, inventory, settings.threads)
      .foreach(isDue, found.addTable)(file => if (!isHidden(file)) found.add(file))
  }

  /**
   * Whether the commit of a version is inside the retention. All of them are read: a checkpoint may lack their
   * tombstones, if the retention was shorter when it was written, or these may look expired, because their time is that
   * of the beginning of a long transaction, or because they have none.
   */
  private lazy val isInside: Long => Boolean = {
    val first = oldestVersion.fold(oldestCommit)(_ + 1)
    val isLonger = settings.askedMs.exists(_ > table.facts.deletedFileRetentionMs)
    if (isLonger && oldestVersion.isEmpty && oldestCommit > 0)
      throw UpkeepErrors.retentionExceedsLog(table.name, oldestCommit)
    version => version >= first && version <= snapshot.version
  }

  /** Those files that are there. The log does not say what an earlier run has deleted. */
  private def present(files: Seq[VacuumVerdict]): Seq[VacuumVerdict] =
    SideBySide.map(files, "delta-upkeep-present", settings.threads) { verdict =>
      Option.when(fileSystem.exists(pathOf(verdict.file)))(verdict)
    }.flatten

  private def tooMany(versions: (Long, Long)): Option[String] = {
    val (first, until) = versions
    val bytes = log.iterator.filter { file =>
      file.kind match {
        case LogFileKind.Commit(version) => version >= first && version <= until
        case LogFileKind.RemovedFiles(from, to) => to >= first && from <= until
        case _ => false
      }
    }.map(_.sizeInBytes).sum
    DriverBytes.excess(table.session, "the commits since the last VACUUM take", bytes)
  }

  /** Takes files from several threads, and keeps those that no version inside retention needs. */
  private final class FoundFiles(needed: TableNames) {
    private val unneeded = new ConcurrentLinkedQueue[VacuumVerdict]
    private val needs = new AtomicLong
    private val otherTables = ConcurrentHashMap.newKeySet[String]()

    /** Leaves everything in the directory of another table alone. */
    def addTable(directory: String): Unit = { otherTables.add(directory + "/"); () }

    def add(file: FoundFile): Unit = VacuumPlan.reason(file, needed, cutoff) match {
      case Some(reason) => unneeded.add(VacuumVerdict(file, reason)); ()
      case None => needs.incrementAndGet(); ()
    }

    def named: Long = needs.get

    /** Keys of S3 may be different and have the same path, such as `a/b` and `a//b`. */
    private def newestOfEach(found: Iterable[VacuumVerdict]): Vector[VacuumVerdict] =
      found.groupBy(_.file.path).valuesIterator.map(_.maxBy(_.file.modificationTime)).toVector

    def verdicts: IndexedSeq[VacuumVerdict] = {
      val others = otherTables.asScala.toSeq
      newestOfEach(unneeded.asScala).sortBy(_.file.path).map { verdict =>
        if (others.exists(verdict.file.path.startsWith)) verdict.copy(reason = VacuumReason.OtherTable)
        else verdict
      }
    }
  }
}

object TableVacuum {

  /** More of them have one cause. */
  private[vacuum] val MostFailures = 100

  private[vacuum] val FilesOfLook = 5000
}
