package io.deltaupkeep.plan.repair

/** Which file has a problem: one that an entry of the log names, or one of the log itself. */
sealed abstract class FileKind(val name: String) extends Serializable

object FileKind {
  case object Data extends FileKind("data file")
  case object Vector extends FileKind("deletion vector")
  case object Checkpoint extends FileKind("checkpoint")

  /** `_last_checkpoint` */
  case object Pointer extends FileKind("last checkpoint")
  case object Checksum extends FileKind("checksum")
}

/**
 * What is wrong with a file of a table.
 *
 * @param name in results
 * @param text what was found, as the beginning of a sentence
 */
sealed abstract class Problem(val kind: FileKind, val name: String, val text: String) extends Serializable {

  /** Whether the file can never be read as it is. The files that an OPTIMIZE replaced may bring its rows back. */
  def isCertain: Boolean = true

  /** Whether the rows are lost, unless they are brought back. */
  def isLoss: Boolean = false
}

object Problem {

  case object DataGone extends Problem(FileKind.Data, "missing", "the file does not exist") {
    override def isLoss: Boolean = true
  }

  case object VectorGone extends Problem(
        FileKind.Vector,
        "missing",
        "its deletion vector does not exist, so its rows cannot be told from deleted ones"
      ) {
    override def isLoss: Boolean = true
  }

  final case class Unknown(of: FileKind, why: String)
      extends Problem(of, "unknown", s"the store does not say whether the ${of.name} exists: $why") {
    override def isCertain: Boolean = false
  }

  final case class WrongSize(found: Long, logged: Long)
      extends Problem(FileKind.Data, "wrong size", s"the file has $found bytes, and the log says $logged")

  final case class ShortVector(found: Long, endsAt: Long) extends Problem(
        FileKind.Vector,
        "wrong size",
        s"the file of its deletion vector has $found bytes, and the vector ends at $endsAt"
      )

  final case class Damaged(of: FileKind, what: String)
      extends Problem(of, "damaged", s"the ${of.name} is damaged: $what")

  final case class WrongRows(found: Long, logged: Long)
      extends Problem(FileKind.Data, "wrong row count", s"the file has $found rows, and the log says $logged")

  /** The gravest problem of a file; None if it is as the log says. */
  def of(file: NamedFile, presence: String => Presence): Option[Problem] = {
    val data = presence(file.path)
    def ofVector = file.vector.map(vector => vector -> presence(vector.path)).flatMap {
      case (vector, Presence.There(size)) =>
        Option.when(size < vector.endsAt)(ShortVector(size, vector.endsAt))
      case (_, Presence.Gone) => Some(VectorGone)
      case (_, Presence.Unknown(why)) => Some(Unknown(FileKind.Vector, why))
    }
    data match {
      case Presence.Gone => Some(DataGone)
      case Presence.Unknown(why) => Some(Unknown(FileKind.Data, why))
      case Presence.There(size) =>
        // A vector that is gone is graver than a size.
        ofVector.filter(_.isLoss)
          .orElse(Option.when(size != file.sizeInBytes)(WrongSize(size, file.sizeInBytes)))
          .orElse(ofVector)
    }
  }
}
