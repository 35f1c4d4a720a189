package io.deltaupkeep.log

/** The sidecars that a checkpoint names (protocol, 'V2 Spec'). */
sealed trait SidecarReferences

object SidecarReferences {
  final case class Named(names: Set[String]) extends SidecarReferences

  /** The checkpoint could not be read, so its sidecars are unknown. */
  final case class Unreadable(problem: String) extends SidecarReferences
}
