package org.apache.spark.sql.delta.upkeep.checkpoint

import scala.util.control.NonFatal

import io.deltaupkeep.{Uninterrupted, UpkeepErrors}
import io.deltaupkeep.plan.checkpoint.{CheckpointPlan, Policy, WrittenCheckpoint}

import org.apache.spark.sql.delta.LastCheckpointInfo
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** Writes a planned checkpoint, verifies its contents, and publishes it. */
private[checkpoint] final class CheckpointWriter(inputs: CheckpointInputs) {
  import inputs.{damaged, handle, pointer, schema, session}

  private val snapshot = handle.snapshot

  /**
   * Writes the checkpoint, and `_last_checkpoint` after all its files.
   *
   * @throws io.deltaupkeep.UpkeepException `CHECKPOINT_MISMATCH`: its files would differ from the table's;
   *                                        `TABLE_REPLACED`: the table was dropped meanwhile. Nothing is
   *                                        published.
   */
  def write(plan: CheckpointPlan): WrittenCheckpoint = session.withActive {
    val temporary = TemporaryFiles.of(handle, plan.build)
    val below = new CommitBelow(handle)
    // Where there are directories, a write would recreate those of a dropped table.
    if (handle.showsPartialWrites) below.require()
    val (contents, info) =
      try {
        val contents = new ContentsWriter(inputs, temporary).write(plan)
        verify(contents)
        DeltaApi.current.publishCommits(snapshot, handle.table.catalogTable)
        (contents, Uninterrupted(publish(plan, contents, temporary)))
      } catch {
        case e @ (NonFatal(_) | _: InterruptedException) =>
          Uninterrupted {
            temporary.deleteAll()
            below.deleteEmptyLog()
          }
          throw e
      }
    Uninterrupted {
      temporary.delete()
      pointer.write(info)
      plan.damaged.foreach(damaged.delete(_, info))
    }
    WrittenCheckpoint(
      numActions = info.size,
      numAddFiles = contents.adds,
      parts = if (plan.policy == Policy.V2) contents.fragments.size else plan.build.parts,
      sizeInBytes = info.sizeInBytes.getOrElse(0L)
    )
  }

  private def verify(contents: CheckpointContents): Unit =
    snapshot.checksumOpt.foreach { checksum =>
      val (holds, expected) =
        ((contents.adds, contents.addBytes), (checksum.numFiles, checksum.tableSizeBytes))
      if (holds != expected)
        throw UpkeepErrors.checkpointMismatch(handle.name, snapshot.version, holds, expected)
    }

  private def publish(
      plan: CheckpointPlan,
      contents: CheckpointContents,
      temporary: TemporaryFiles
  ): LastCheckpointInfo = {
    val publisher =
      new CheckpointPublisher(handle, session, schema, plan.damaged.flatMap(_.files).toSet)
    plan.policy match {
      case Policy.V2 => publisher.v2(contents, plan.format)
      case Policy.Classic if plan.build.parts > 1 => publisher.multiPart(contents, temporary)
      case Policy.Classic => publisher.classic(contents, temporary)
    }
  }
}
