package org.apache.spark.sql.delta.upkeep.metrics

import io.deltaupkeep.UpkeepException

/** How a statement, or a step of MAINTAIN, ended; the name of its counter. */
sealed abstract class Outcome(val name: String)

object Outcome {

  case object Done extends Outcome("done")

  /** A dry run. */
  case object Planned extends Outcome("planned")

  case object NothingToDo extends Outcome("nothingToDo")

  /** The table, its catalog or its switch does not allow it. */
  case object Skipped extends Outcome("skipped")

  /** With an error condition of ours. */
  case object Refused extends Outcome("refused")

  /** With an error of Spark, Delta or the store, or cancelled. */
  case object Failed extends Outcome("failed")

  val all: Seq[Outcome] = Seq(Done, Planned, NothingToDo, Skipped, Refused, Failed)

  def doneIf(isDone: Boolean): Outcome = if (isDone) Done else NothingToDo

  def of(thrown: Throwable): Outcome = thrown match {
    case _: UpkeepException => Refused
    case _ => Failed
  }
}
