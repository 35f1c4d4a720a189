package io.deltaupkeep

/** Whether a statement that failed may succeed if it is run again as it is. */
sealed abstract class Retry(val text: String) extends Serializable

object Retry {

  /** At once or later: nothing has to be done first. */
  case object Yes extends Retry("yes")

  /** The statement has to be changed, or the table does not allow it at all. */
  case object No extends Retry("no")

  /** As soon as a sentence holds, such as 'the file is restored'. */
  final case class Once(condition: String) extends Retry(s"once $condition")
}
