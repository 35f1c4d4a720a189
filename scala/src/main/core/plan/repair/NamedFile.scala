package io.deltaupkeep.plan.repair

import io.deltaupkeep.plan.compact.DataFile

/** What was found where the log says that a file is. */
sealed trait Presence

object Presence {
  final case class There(sizeInBytes: Long) extends Presence

  /** The store says that there is no such file. */
  case object Gone extends Presence

  /** The store did not answer. */
  final case class Unknown(why: String) extends Presence
}

/**
 * The file of a deletion vector.
 *
 * @param path     absolute
 * @param endsAt   where the vector ends in its file, in bytes, with its checksum (protocol, 'Deletion Vector Format')
 */
final case class NamedVector(path: String, endsAt: Long)

/**
 * A data file that a version of a table names, and what the log says of it.
 *
 * @param path   absolute
 * @param rows   without deleted ones; None if the log does not say
 * @param vector None if it has no deletion vector, or one that is in the log
 */
final case class NamedFile(
    id: DataFile.Id,
    path: String,
    sizeInBytes: Long,
    rows: Option[Long],
    vector: Option[NamedVector]
)
