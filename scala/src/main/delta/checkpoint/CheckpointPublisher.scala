package org.apache.spark.sql.delta.upkeep.checkpoint

import java.io.IOException
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.deltaupkeep.SideBySide
import io.deltaupkeep.parquet.file.{RowGroupJoiner, RowGroupsOf}
import io.deltaupkeep.plan.checkpoint.{Fragment, TopLevelFormat}
import io.deltaupkeep.store.OutputFiles

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.OutputFile

import org.apache.spark.sql.delta.upkeep.read.{CheckpointFooter, CheckpointSchema}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, SnapshotCopy}
import org.apache.spark.sql.delta.{
  Checkpoints,
  LastCheckpointInfo,
  SerializableFileStatus,
  Snapshot,
  V2Checkpoint
}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.util.FileNames

/**
 * The contents of a checkpoint.
 *
 * @param fragments    with their files
 * @param nonFileActions actions that concern no file
 * @param isOneFile    whether they already form one classic checkpoint, except for its name
 */
private[upkeep] final case class CheckpointContents(
    fragments: Seq[(Fragment, FileStatus)],
    nonFileActions: Seq[Action],
    isOneFile: Boolean
) {
  val adds: Long = fragments.map(_._1.adds).sum
  val addBytes: Long = fragments.map(_._1.addBytes).sum
  val fileActions: Long = fragments.map(_._1.actions).sum
}

/**
 * Publishes verified contents as a checkpoint, and returns the contents of `_last_checkpoint`.
 *
 * @param damaged names of files that it replaces
 */
private[upkeep] final class CheckpointPublisher(
    handle: DeltaHandle,
    session: ClassicSession,
    checkpointSchema: CheckpointSchema,
    damaged: Set[String]
) {

  private val snapshot = handle.snapshot
  private val deltaLog = snapshot.deltaLog
  private val conf = handle.hadoopConf
  private val useRename = handle.showsPartialWrites
  private val below = new CommitBelow(handle)

  /** New files that readers can find, directly or through a file that names them. */
  private val published = new ConcurrentLinkedQueue[Path]

  /** Publishes if the table is still the same, and withdraws the files if it was replaced meanwhile. */
  private def unlessReplaced(contents: CheckpointContents)(publish: => LastCheckpointInfo) = {
    def withdrawIfReplaced(): Unit = if (!below.isThere) {
      (published.asScala ++ newSidecars(contents)).foreach(path =>
        path.getFileSystem(conf).delete(path, false)
      )
      throw below.gone
    }
    withdrawIfReplaced()
    val info = publish
    withdrawIfReplaced()
    info
  }

  /** The name of a sidecar begins with the version of the checkpoint that it was written for. */
  private def newSidecars(contents: CheckpointContents): Seq[Path] = {
    val reused = snapshot.checkpointProvider.version
    val ofVersion = f"${snapshot.version}%020d."
    contents.fragments.map(_._2.getPath).distinct.filter { path =>
      path.getParent == FileNames.sidecarDirPath(handle.logPath) && reused < snapshot.version &&
      path.getName.startsWith(ofVersion)
    }
  }

  /** Writes a top-level file that names the fragments, which are sidecars. */
  def v2(contents: CheckpointContents, format: TopLevelFormat): LastCheckpointInfo =
    unlessReplaced(contents) {
      val sidecarBytes = contents.fragments.map(_._1.sizeInBytes).sum
      val (topLevel, nonFileActions, pointer, topLevelSchema) = Checkpoints.writeTopLevelV2Checkpoint(
        CheckpointPublisher.deltaFormat(format),
        contents.fragments.map { case (_, file) => SerializableFileStatus.fromStatus(file) }.toArray,
        session,
        checkpointSchema.sidecarSchema,
        new SnapshotOfCheckpoint(snapshot, contents.adds, contents.nonFileActions),
        deltaLog,
        contents.fileActions,
        sidecarBytes,
        conf,
        // An interrupted task must not leave half a Parquet file under the final name.
        useRename = true
      )
      published.add(topLevel.getPath)
      LastCheckpointInfo(
        version = snapshot.version,
        size = contents.fileActions + nonFileActions.size,
        parts = None,
        sizeInBytes = Some(sidecarBytes + topLevel.getLen),
        numOfAddFiles = Some(contents.adds),
        v2Checkpoint = Some(pointer),
        checkpointSchema = topLevelSchema
      )
    }

  /** One file of the fragments. */
  def classic(
      contents: CheckpointContents,
      temporary: TemporaryFiles
  ): LastCheckpointInfo = unlessReplaced(contents) {
    val path = FileNames.checkpointFileSingular(handle.logPath, snapshot.version)
    val file =
      if (contents.isOneFile && useRename) rename(contents.fragments.head._2.getPath, path, contents.adds)
      else write(rowGroups(contents), path, contents.adds, temporary)
    classicInfo(contents, contents.fileActions + contents.nonFileActions.size, parts = None, file.getLen)
  }

  /** One part per fragment; the fragments also hold the non-file actions. */
  def multiPart(
      contents: CheckpointContents,
      temporary: TemporaryFiles
  ): LastCheckpointInfo = unlessReplaced(contents) {
    val paths = FileNames.checkpointFileWithParts(handle.logPath, snapshot.version, contents.fragments.size)
    val parts = contents.fragments.zip(paths)
    val files = SideBySide.map(parts, "delta-upkeep-parts", CheckpointPublisher.Threads) {
      case ((part, file), path) =>
        write(Seq(RowGroupsOf(HadoopInputFile.fromStatus(file, conf), None)), path, part.adds, temporary)
    }
    val actions = CheckpointFooter.readAll(files, conf)(_.rows).sum
    classicInfo(contents, actions, Some(files.size), files.map(_.getLen).sum)
  }

  /** Copies row groups as bytes. */
  private def write(
      rowGroups: Seq[RowGroupsOf],
      path: Path,
      adds: Long,
      temporary: TemporaryFiles
  ): FileStatus = {
    def join(output: OutputFile): Long = RowGroupJoiner.join(rowGroups, output)
    if (useRename) {
      val written = temporary.newPath()
      join(OutputFiles.of(written, conf))
      rename(written, path, adds)
    } else {
      // A store that refuses to replace a file need not be asked for one first.
      val asks = damaged(path.getName) || !OutputFiles.refuseToReplace(path, conf)
      onlyOnce(path, adds, asks) { found =>
        // The store shows the old file until the new one is complete.
        val bytes = join(if (found.isEmpty) OutputFiles.ifAbsent(path, conf) else OutputFiles.of(path, conf))
        new FileStatus(bytes, false, 1, 0, 0, path)
      }
    }
  }

  private def rename(temporary: Path, path: Path, adds: Long): FileStatus =
    onlyOnce(path, adds) { found =>
      val fs = path.getFileSystem(conf)
      // A rename does not replace a file.
      found.foreach(file => fs.delete(file.getPath, false))
      Checkpoints.renameAndCleanupTempPartFile(temporary, path, fs)
      fs.getFileStatus(path)
    }

  /**
   * If the file exists, another driver was faster, and its file is kept: readers that have listed it use its
   * length to find the footer. A file that is damaged, truncated or holds different files is replaced.
   *
   * @param asks    whether to look for the file first; if not, `publish` fails if there is one
   * @param publish makes the file in place of another one
   */
  private def onlyOnce(path: Path, adds: Long, asks: Boolean = true)(
      publish: Option[FileStatus] => FileStatus
  ): FileStatus = {
    def isKept(file: FileStatus): Boolean =
      !damaged(path.getName) && CheckpointFooter.isWhole(file, conf)(_.whole.adds == adds)
    def keptOrReplaced(found: Option[FileStatus]): FileStatus = found.filter(isKept).getOrElse {
      val file = publish(found)
      published.add(path)
      file
    }
    if (asks) keptOrReplaced(below.statusOf(path))
    else
      try keptOrReplaced(None)
      catch {
        // Another driver was faster, or the file is ours, and only the answer was lost.
        case e: IOException =>
          val found = below.statusOf(path).getOrElse(throw e)
          published.add(path)
          keptOrReplaced(Some(found))
      }
  }

  /** Fragments of the same file are read together. */
  private def rowGroups(contents: CheckpointContents): Seq[RowGroupsOf] = {
    val byFile = contents.fragments.groupMap(_._2.getPath)(_._1)
    contents.fragments.map(_._2).distinctBy(_.getPath).map { file =>
      val ordinals = byFile(file.getPath).flatMap(_.rowGroup)
      RowGroupsOf(HadoopInputFile.fromStatus(file, conf), Option.when(ordinals.nonEmpty)(ordinals.sorted))
    }
  }

  private def classicInfo(
      contents: CheckpointContents,
      size: Long,
      parts: Option[Int],
      sizeInBytes: Long
  ): LastCheckpointInfo =
    LastCheckpointInfo(
      version = snapshot.version,
      size = size,
      parts = parts,
      sizeInBytes = Some(sizeInBytes),
      numOfAddFiles = Some(contents.adds),
      v2Checkpoint = None,
      checkpointSchema =
        Checkpoints.checkpointSchemaToWriteInLastCheckpointFile(session, checkpointSchema.schema)
    )
}

private object CheckpointPublisher {
  val Threads = 8

  def deltaFormat(format: TopLevelFormat): V2Checkpoint.Format = format match {
    case TopLevelFormat.Json => V2Checkpoint.Format.JSON
    case TopLevelFormat.Parquet => V2Checkpoint.Format.PARQUET
  }
}

/** The same version of the table, with its state taken from the checkpoint. Nothing is replayed. */
private final class SnapshotOfCheckpoint(original: Snapshot, adds: Long, actions: Seq[Action])
    extends SnapshotCopy(original) {

  override def numOfFiles: Long = adds

  override private[delta] lazy val nonFileActions: Seq[Action] = actions
}
