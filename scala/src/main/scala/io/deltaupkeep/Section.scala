package io.deltaupkeep

import java.util.Locale

/** A section of the README, that explains an error. */
private[deltaupkeep] sealed abstract class Section(val title: String) {

  /** Its name in a link. */
  def anchor: String = title.toLowerCase(Locale.ROOT).replace(' ', '-')
}

private[deltaupkeep] object Section {
  case object Statements extends Section("Statements")
  case object Options extends Section("Options")
  case object Checkpoints extends Section("Which checkpoint")
  case object Promises extends Section("How it keeps its promises")

  val all: Seq[Section] = Seq(Statements, Options, Checkpoints, Promises)
}
