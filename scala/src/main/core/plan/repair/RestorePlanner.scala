package io.deltaupkeep.plan.repair

import scala.annotation.tailrec
import scala.collection.mutable

import io.deltaupkeep.CountText
import io.deltaupkeep.plan.compact.DataFile

/**
 * What a commit did to one partition, without changing its rows: the outputs hold the rows of the inputs. Files never
 * change, so this stays true, whatever other commits do. A file with another deletion vector is another file.
 *
 * @param obstacle why it must not be undone
 */
final case class Rewrite(
    version: Long,
    outputs: Set[DataFile.Id],
    inputs: Set[DataFile.Id],
    obstacle: Option[String] = None
)

/**
 * Rewrites that are undone together.
 *
 * @param removed files of the table that are replaced
 * @param added   files that replace them, with the same rows
 */
final case class Restoration(rewrites: Seq[Rewrite], removed: Set[DataFile.Id], added: Set[DataFile.Id]) {

  /** The newest version that is undone. */
  def version: Long = rewrites.map(_.version).max
}

/**
 * @param refusals    why files that are broken cannot be restored
 * @param isUncertain whether the store did not answer for a file that may bring rows back
 */
final case class RestorePlan(
    restorations: Seq[Restoration],
    refusals: Map[DataFile.Id, String],
    isUncertain: Boolean = false
)

object RestorePlan {
  val Nothing: RestorePlan = RestorePlan(Nil, Map.empty)
}

/**
 * Finds the rewrites to undo, so that broken files leave the table and no row does.
 *
 * Worked example: version 5 rewrote `a, b` into `c`, and version 8 rewrote `c, d` into `e`. If `e` and `c` are gone,
 * undoing 8 brings `c, d`, and undoing 5 replaces `c` by `a, b`: `e` is replaced by `a, b, d`.
 *
 * @param live     files of the table
 * @param isBroken whether a file is gone or damaged; it is asked for files of the table, and for inputs
 */
final class RestorePlanner(
    live: Set[DataFile.Id],
    isBroken: DataFile.Id => Boolean,
    rewrites: Seq[Rewrite]
) {
  private val newestFirst = rewrites.sortBy(-_.version)
  private val producers = RestorePlanner.producers(newestFirst)

  def plan(): RestorePlan = {
    val restorations = solve(rewrites.filter(_.obstacle.isEmpty).toSet)
    val removed = restorations.flatMap(_.removed).toSet
    val refusals = live.filter(isBroken).diff(removed).map(file => file -> refusal(file)).toMap
    RestorePlan(restorations.sortBy(_.version), refusals)
  }

  /** Undoes what helps. What brings in broken files is left out, and everything is tried again without it. */
  @tailrec
  private def solve(usable: Set[Rewrite]): Seq[Restoration] = {
    val (undone, state) = undo(usable)
    val bad = undone.filter(_.inputs.exists(input => state(input) && isBroken(input)))
    if (bad.isEmpty) components(undone).map(restorationOf(_, state))
    else solve(usable -- bad)
  }

  /** Undoes rewrites that made broken files, until none is left whose outputs are all there. */
  private def undo(usable: Set[Rewrite]): (Seq[Rewrite], Set[DataFile.Id]) = {
    val undone = mutable.LinkedHashSet.empty[Rewrite]
    val state = mutable.Set.empty[DataFile.Id] ++= live
    val broken = mutable.LinkedHashSet.empty[DataFile.Id] ++= live.filter(isBroken)
    def candidate(file: DataFile.Id): Option[Rewrite] =
      producers.getOrElse(file, Nil).find { rewrite =>
        usable(rewrite) && !undone(rewrite) && rewrite.outputs.forall(state) && !rewrite.inputs.exists(state)
      }
    def pass(): Boolean = broken.toVector.map { file =>
      val found = if (state(file)) candidate(file) else None
      found.foreach { rewrite =>
        undone += rewrite
        state --= rewrite.outputs
        state ++= rewrite.inputs
        broken --= rewrite.outputs
        broken ++= rewrite.inputs.filter(isBroken)
      }
      found.nonEmpty
    }.contains(true)
    while (pass()) ()
    (undone.toSeq, state.toSet)
  }

  /** Groups rewrites that depend on each other: one made what the other replaced. */
  private def components(undone: Seq[Rewrite]): Seq[Seq[Rewrite]] = {
    val consumers = undone.flatMap(rewrite => rewrite.inputs.toSeq.map(_ -> rewrite)).toMap
    val edges = undone.flatMap(made => made.outputs.toSeq.flatMap(consumers.get(_)).map(made -> _))
    val near = (edges ++ edges.map(_.swap)).groupBy(_._1)
    val seen = mutable.Set.empty[Rewrite]
    undone.filterNot(seen).flatMap { first =>
      val group = mutable.ArrayBuffer.empty[Rewrite]
      val queue = mutable.Queue(first)
      while (queue.nonEmpty) {
        val rewrite = queue.dequeue()
        if (seen.add(rewrite)) {
          group += rewrite
          queue ++= near.getOrElse(rewrite, Nil).map(_._2)
        }
      }
      if (group.isEmpty) None else Some(group.toVector)
    }
  }

  private def restorationOf(group: Seq[Rewrite], state: Set[DataFile.Id]): Restoration = Restoration(
    group,
    removed = group.flatMap(_.outputs).toSet.filter(file => live(file) && !state(file)),
    added = group.flatMap(_.inputs).toSet.filter(file => state(file) && !live(file))
  )

  private def refusal(file: DataFile.Id): String = producers.getOrElse(file, Nil).headOption.fold(
    "no commit in the log made it by only rewriting files"
  ) { rewrite =>
    val changed = rewrite.outputs.count(!live(_))
    val broken = rewrite.inputs.count(isBroken)
    def version = s"version ${rewrite.version}"
    rewrite.obstacle.getOrElse {
      if (changed > 0)
        s"${CountText.of(changed, "other file")} that $version made with it left the table or changed"
      else
        s"of the ${CountText.of(rewrite.inputs.size, "file")} that $version replaced, $broken cannot be used"
    }
  }
}

object RestorePlanner {

  /** The rewrites that made each file, in their order. */
  private def producers(rewrites: Seq[Rewrite]): Map[DataFile.Id, Seq[Rewrite]] =
    rewrites.flatMap(rewrite => rewrite.outputs.toSeq.map(_ -> rewrite)).groupBy(_._1).map {
      case (file, made) =>
        file -> made.map(_._2)
    }

  /** All rewrites that may have to be undone for some files: those that made them, or their inputs. */
  def ancestors(files: Set[DataFile.Id], rewrites: Seq[Rewrite]): Seq[Rewrite] = {
    val producers = this.producers(rewrites)
    val found = mutable.LinkedHashSet.empty[Rewrite]
    val seen = mutable.Set.empty[DataFile.Id]
    val queue = mutable.Queue.empty[DataFile.Id] ++= files
    while (queue.nonEmpty) {
      val file = queue.dequeue()
      if (seen.add(file)) producers.getOrElse(file, Nil).foreach { rewrite =>
        if (found.add(rewrite)) queue ++= rewrite.inputs
      }
    }
    found.toSeq
  }

  /** The inputs of rewrites that made some files. */
  def inputsOf(files: Set[DataFile.Id], rewrites: Seq[Rewrite]): Set[DataFile.Id] =
    rewrites.filter(rewrite => rewrite.obstacle.isEmpty && rewrite.outputs.exists(files)).flatMap(_.inputs).toSet
}
