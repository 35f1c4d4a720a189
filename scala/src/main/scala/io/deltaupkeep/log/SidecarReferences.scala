package io.deltaupkeep.log

/** The sidecars that a checkpoint names (protocol, 'V2 Spec'). */
sealed trait SidecarReferences

object SidecarReferences {
  final case class Named(names: Set[String]) extends SidecarReferences

  /** The checkpoint could not be read, so nobody knows what it names. */
  final case class Unreadable(problem: String) extends SidecarReferences
}
