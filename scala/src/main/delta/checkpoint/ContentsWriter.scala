package org.apache.spark.sql.delta.upkeep.checkpoint

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.deltaupkeep.plan.checkpoint.{Build, CheckpointPlan, Policy}

import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.read.NonFileActions
import org.apache.spark.sql.delta.upkeep.state.{CommitParser, DriverReplay, FileColumns, JobReplay}

/** Writes the parts of a checkpoint that readers do not see before it is published. */
private[checkpoint] final class ContentsWriter(inputs: CheckpointInputs, temporary: TemporaryFiles) {
  import inputs.{handle, log, schema, session}

  private val parts = new PartWriter(handle, session, schema)

  /** Writes the parts that the plan does not keep. */
  def write(plan: CheckpointPlan): CheckpointContents = {
    val kind = partKindOf(plan)
    plan.build match {
      case build: Build.Incremental => onLastCheckpoint(plan, build, kind)
      case build: Build.Full if build.isJob => fromStateAsJob(build, kind)
      case _: Build.Full => fromCommitsOnDriver(plan, kind)
      case _: Build.NotNeeded => throw new IllegalStateException("There is nothing to write")
    }
  }

  private def partKindOf(plan: CheckpointPlan): PartKind = plan.policy match {
    case Policy.V2 => PartKind.Sidecar
    case Policy.Classic if plan.build.parts > 1 => PartKind.AllActions(temporary)
    case Policy.Classic => PartKind.RowGroups(temporary)
  }

  private def onLastCheckpoint(
      plan: CheckpointPlan,
      build: Build.Incremental,
      kind: PartKind
  ): CheckpointContents = {
    val last = inputs.baseOf(plan.policy).fold(why => throw new IllegalStateException(why), identity)
    val kept = build.fragments.kept.map(fragment => fragment -> last.file(fragment))
    val sources =
      if (build.newFragments == 0) Nil
      else last.sources(build.fragments.replaced, session, schema)
    val others = last.tail.nonFileActions
    val written = parts.write(kind, plan.layout.fragmentSize, sources, others)
    CheckpointContents(kept ++ written.fragments, others, isOneFile = false)
  }

  private def fromCommitsOnDriver(plan: CheckpointPlan, kind: PartKind): CheckpointContents = {
    val replay = new DriverReplay(handle, session, log.snapshot)
    val others = new ConcurrentLinkedQueue[Action]
    // One action for each application and domain is left, so their order does not matter.
    lazy val kept = NonFileActions.newest(others.asScala.toSeq, log.snapshot)
    val files = parts.onDriver(kind, plan.layout.fragmentSize).fill(replay.pieces) { writer =>
      val columns = new FileColumns(CommitParser.Schema, schema.sidecarSchema, session.sessionState.conf)
      val read = NonFileActions.reader(CommitParser.Schema)
      piece =>
        replay.newest(piece).foreach { action =>
          action.file match {
            case Some(path) => if (!replay.isExpired(action)) writer.write(columns(action.row, path))
            case None => others.add(replay.naming(piece)(read(action.row)))
          }
        }
    }(kept)
    val written = parts.written(kind, files, kept)
    CheckpointContents(written.fragments, written.others, isOneFile = plan.policy == Policy.Classic)
  }

  private def fromStateAsJob(build: Build.Full, kind: PartKind): CheckpointContents = {
    val state = new JobReplay(session, log.snapshot).actions(build.newFragments)
    val written = parts.write(state, kind, build.actions / build.newFragments)
    // The job leaves non-file actions out of row groups.
    val ofOthers =
      if (kind.isRowGroups) parts.write(kind, written.others.size.toLong, Nil, written.others).fragments
      else Nil
    CheckpointContents(written.fragments ++ ofOthers, written.others, isOneFile = false)
  }
}
