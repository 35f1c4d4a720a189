package org.apache.spark.sql.delta.upkeep.table

/** What a statement is going to do. The table's features may forbid it. */
sealed trait Intent

object Intent {

  /** Reads the log and the listing. */
  case object Read extends Intent

  /** Adds a checkpoint of an existing version. */
  case object Checkpoint extends Intent

  /** Does at least that, and asks the switch itself for each step. */
  case object Maintain extends Intent

  /** Rewrites data files. */
  case object Reorganize extends Intent

  /** Deletes files of the log. */
  case object CleanLog extends Intent

  /** Deletes data files. */
  case object Vacuum extends Intent
}
