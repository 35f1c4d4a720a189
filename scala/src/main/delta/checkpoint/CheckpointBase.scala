package org.apache.spark.sql.delta.upkeep.checkpoint

import io.deltaupkeep.plan.checkpoint.{Fragment, Policy}
import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFooter, CheckpointRows, CheckpointSchema, FilePaths}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.state.{CommitParser, FileActions, FileColumns, LogTail}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.types.StructType

/**
 * The last checkpoint of a table and the changes since, on which a new one can build.
 *
 * @param fragments of the last checkpoint
 */
private[upkeep] final class CheckpointBase private (
    handle: DeltaHandle,
    files: Map[String, FileStatus],
    val tail: LogTail,
    val fragments: Seq[Fragment]
) {
  import CheckpointBase._

  def file(fragment: Fragment): FileStatus = files(fragment.file)

  /**
   * What a checkpoint holds in place of the replaced fragments, as several sources: the changes, and of each
   * fragment the unexpired actions that no commit touched. Rows have the form of [[FileColumns]], and paths are
   * spelled as Delta spells them.
   */
  def sources(
      replaced: Seq[Fragment],
      session: ClassicSession,
      checkpointSchema: CheckpointSchema
  ): Seq[RowSource] = {
    val sqlConf = session.sessionState.conf
    val conf = handle.hadoopConf
    val reader = new CheckpointRows(Columns, session, conf)
    val actions = new FileActions(Columns)
    val unexpired = handle.snapshot.minFileRetentionTimestamp
    val canonical = handle.snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)
    def survivors(fragment: Fragment): RowSource = { use =>
      val columns = new FileColumns(Columns, checkpointSchema.sidecarSchema, sqlConf)
      val rowGroups = CheckpointFooter.read(file(fragment), conf)(_.rowGroupsOf(fragment))
      reader.foreach(file(fragment), rowGroups) { row =>
        if (actions.has(row) && !actions.isExpired(row, unexpired)) {
          val path = FilePaths.respelled(actions.path(row), canonical)
          if (!tail.names(actions.key(row, path))) use(columns(row, path))
        }
      }
    }
    val changes: RowSource = { use =>
      val columns = new FileColumns(CommitParser.Schema, checkpointSchema.sidecarSchema, sqlConf)
      for (action <- tail.fileActions; path <- action.file) use(columns(action.row, path))
    }
    changes +: replaced.filter(_.actions > 0).map(survivors)
  }
}

private[upkeep] object CheckpointBase {

  private lazy val Columns = StructType(Seq("add", "remove").map(Action.logSchema(_)))

  /** The base for a new checkpoint with this policy, or why there is none. */
  def of(
      handle: DeltaHandle,
      policy: Policy,
      checkpointSchema: => CheckpointSchema,
      log: ReadableLog
  ): Either[String, CheckpointBase] =
    for {
      last <- LastCheckpoint.of(handle, policy)
      _ <- last.obstacle(checkpointSchema).toLeft(())
      _ <- log.flaw.toLeft(())
      others <- last.nonFileActions
      tail <- LogTail.read(handle, others)
      fragments <- last.fragments(checkpointSchema, tail.paths)
    } yield {
      val files = last.files.map(file => file.getPath.getName -> file).toMap
      new CheckpointBase(handle, files, tail, fragments)
    }
}
