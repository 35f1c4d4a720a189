package io.deltaupkeep.plan.checkpoint

/**
 * How the last checkpoint after a commit ended, in this application.
 *
 * @param version of the table that the checkpoint holds
 */
final case class HookOutcome(version: Long, isFailure: Boolean, message: String)
