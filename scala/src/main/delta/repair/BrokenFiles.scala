package org.apache.spark.sql.delta.upkeep.repair

import scala.annotation.tailrec

import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair.{Problem, RestorePlan, RestorePlanner, Rewrite}

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Finds out which broken files can be replaced by those that they were made of.
 *
 * @param check problems of files that the table no longer has
 */
private[repair] final class BrokenFiles(
    table: DeltaHandle,
    logged: LoggedFiles,
    commits: LogCommits,
    check: Seq[AddFile] => Map[DataFile.Id, Problem]
) {

  private var inputs = Map.empty[DataFile.Id, AddFile]
  private var isUncertain = false

  /** The action that adds an input of a restoration. */
  def input(id: DataFile.Id): AddFile = inputs(id)

  def plan(live: Set[DataFile.Id], broken: Set[DataFile.Id]): RestorePlan = {
    val history = new RewriteHistory(table, logged, commits).of(broken)
    inputs = history.inputs
    val brokenInputs = lookUp(history.rewrites, broken, known = live, Set.empty)
    new RestorePlanner(live, broken ++ brokenInputs, history.rewrites).plan().copy(isUncertain = isUncertain)
  }

  /** Inputs that are broken. Those of older rewrites are looked at only where they may help. */
  @tailrec
  private def lookUp(
      rewrites: Seq[Rewrite],
      broken: Set[DataFile.Id],
      known: Set[DataFile.Id],
      found: Set[DataFile.Id]
  ): Set[DataFile.Id] = {
    val unknown = RestorePlanner.inputsOf(broken, rewrites) -- known
    if (unknown.isEmpty) found
    else {
      val problems = check(unknown.toSeq.map(inputs))
      isUncertain ||= problems.values.exists(!_.isCertain)
      lookUp(rewrites, problems.keySet, known ++ unknown, found ++ problems.keySet)
    }
  }
}
