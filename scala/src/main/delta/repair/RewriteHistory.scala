package org.apache.spark.sql.delta.upkeep.repair

import scala.collection.mutable

import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair.{RestorePlanner, Rewrite}
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.delta.{DeltaConfigs, RowId}
import org.apache.spark.sql.delta.actions._
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions}
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/** @param inputs the actions that add what they replaced */
private[repair] final case class History(rewrites: Seq[Rewrite], inputs: Map[DataFile.Id, AddFile])

/**
 * The commits of a log that only rewrote files, such as those of OPTIMIZE. All commits are read, twice, one at a time;
 * the driver holds the names of files that were rewritten.
 */
private[repair] final class RewriteHistory(table: DeltaHandle, logged: LoggedFiles, commits: LogCommits) {
  import RewriteHistory._

  private val snapshot = table.snapshot
  private val partitions = new Partitions(snapshot.metadata)
  private val isPartitioned = snapshot.metadata.partitionColumns.nonEmpty

  /** Those that made some files, and their inputs. */
  def of(files: Set[DataFile.Id]): History = {
    val ancestors = RestorePlanner.ancestors(files, rewrites())
    if (ancestors.isEmpty) History(Nil, Map.empty)
    else {
      val details = new Details(ancestors)
      val checked = ancestors.map(rewrite => rewrite.copy(obstacle = details.obstacle(rewrite)))
      val usable = checked.filter(_.obstacle.isEmpty)
      History(
        checked,
        usable.flatMap(rewrite => rewrite.inputs.map(id => id -> details.input(id, rewrite.version).get)).toMap
      )
    }
  }

  private def rewrites(): Seq[Rewrite] =
    commits.all.flatMap { case (version, actions) => rewritesOf(version, actions) }.toVector

  private def rewritesOf(version: Long, actions: Seq[Action]): Seq[Rewrite] = {
    val adds = actions.collect { case add: AddFile => add }
    val removes = actions.collect { case remove: RemoveFile => remove }
    if ((adds ++ removes).exists(_.dataChange) || adds.isEmpty || !removes.forall(namesPartition)) Nil
    else {
      val outputs = adds.groupBy(partitions.of)
      val inputs = removes.groupBy(remove => partitions.of(RemovedFile.added(remove)))
      for ((partition, made) <- outputs.toSeq; gone <- inputs.get(partition).toSeq) yield Rewrite(
        version,
        made.map(logged.idOf).toSet,
        gone.map(remove => logged.idOf(RemovedFile.added(remove))).toSet
      )
    }
  }

  /** What the log says of the files of rewrites. */
  private final class Details(rewrites: Seq[Rewrite]) {
    private val ids = rewrites.flatMap(rewrite => rewrite.inputs ++ rewrite.outputs).toSet
    private val versions = rewrites.map(_.version).toSet
    private val adds = mutable.Map.empty[DataFile.Id, List[(Long, AddFile)]]
    private val removes = mutable.Map.empty[(Long, DataFile.Id), RemoveFile]
    private val infos = mutable.Map.empty[Long, CommitInfo]
    private val otherChanges = mutable.Set.empty[Long]
    private var lastProtocol = -1L

    for ((version, actions) <- commits.all; action <- actions) action match {
      case add: AddFile =>
        val id = logged.idOf(add)
        if (ids(id)) adds(id) = (version -> add) :: adds.getOrElse(id, Nil)
      case remove: RemoveFile if versions(version) =>
        removes((version, logged.idOf(RemovedFile.added(remove)))) = remove
      case info: CommitInfo if versions(version) => infos(version) = info
      case _: Protocol =>
        lastProtocol = version
        otherChanges += version
      case _: Metadata => otherChanges += version
      case _ => ()
    }

    /** The action that adds a file again that a version removed; None if the log does not say enough of it. */
    def input(id: DataFile.Id, version: Long): Option[AddFile] = {
      val remove = removes.get((version, id))
      addBefore(id, version)
        .map { add =>
          // Row ids may have been given to the file after it was added.
          NewFile.changed(add)(
            // Delta asks for bounds that may be those of deleted rows.
            stats =
              if (add.deletionVector == null) add.stats
              else MergedStats.withWideBounds(add.stats).getOrElse(add.stats),
            baseRowId = remove.flatMap(_.baseRowId).orElse(add.baseRowId),
            rowCommitVersion = remove.flatMap(_.defaultRowCommitVersion).orElse(add.defaultRowCommitVersion)
          )
        }
        .orElse(remove.filter(_.size.nonEmpty).map(
          RemovedFile.added(_)
        ))
    }

    /** Why a rewrite must not be undone. */
    def obstacle(rewrite: Rewrite): Option[String] = {
      val version = rewrite.version
      val inputs = rewrite.inputs.toSeq.map(input(_, version))
      val outputs = rewrite.outputs.toSeq.flatMap(addsOf(_).collect { case (`version`, add) => add })
      val (before, after) = (rowsOf(inputs.flatten), rowsOf(outputs))
      val reasons = Seq(
        otherChanges(version) -> "also changed the table's metadata",
        (version < lastProtocol) -> s"is older than the table's protocol, which changed in version $lastProtocol",
        rewrite.outputs.exists(addBefore(_, version).nonEmpty) -> "also changed files in place",
        inputs.exists(_.isEmpty) -> "removed files of which the log does not say enough",
        (RowId.isSupported(snapshot.protocol) && inputs.flatten.exists(_.baseRowId.isEmpty)) ->
          "removed files without row ids",
        (before.nonEmpty && after.nonEmpty && before != after) -> "changed the number of rows",
        !infos.get(version).exists(info => Rewriting(info.operation)) -> "is no OPTIMIZE and no REORG",
        (RowId.isSupported(snapshot.protocol) && !infos.get(version).exists(
          keepsRowIds
        )) -> "gave rows new ids",
        inputs.flatten.exists(mayNotReturn) -> "removed files in a form that the table no longer takes"
      )
      reasons.collectFirst { case (true, why) => s"version $version $why" }
    }

    private def addsOf(id: DataFile.Id): Seq[(Long, AddFile)] = adds.getOrElse(id, Nil)

    private def addBefore(id: DataFile.Id, version: Long): Option[AddFile] =
      addsOf(id).collectFirst { case (earlier, add) if earlier < version => add }
  }

  /** Delta refuses vectors where the table does not have them, or files whose rows are not counted. */
  private def mayNotReturn(add: AddFile): Boolean =
    add.deletionVector != null &&
      (!DeltaConfigs.ENABLE_DELETION_VECTORS_CREATION.fromMetaData(snapshot.metadata) ||
        MergedStats.numRecords(add.stats).isEmpty) ||
      add.partitionValues.size != snapshot.metadata.partitionColumns.size

  private def namesPartition(remove: RemoveFile): Boolean = remove.partitionValues != null || !isPartitioned
}

private object RewriteHistory {

  private def keepsRowIds(info: CommitInfo): Boolean =
    info.tags.exists(_.get("delta.rowTracking.preserved").contains("true"))

  /** Operations that never change rows. */
  private val Rewriting = Set("OPTIMIZE", "REORG")

  private def rowsOf(files: Seq[AddFile]): Option[Long] =
    files.foldLeft(Option(0L))((sum, file) => sum.flatMap(rows => LoggedFiles.rowsOf(file).map(rows + _)))
}
