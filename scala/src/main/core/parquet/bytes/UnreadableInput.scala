package io.deltaupkeep.parquet.bytes

import scala.util.control.NonFatal

/**
 * An input that cannot be read.
 *
 * @param ofSplice whether Spark might still read it
 */
final class UnreadableInput(val file: String, cause: Throwable, val ofSplice: Boolean = true)
    extends RuntimeException(s"Cannot read $file: ${cause.getMessage}", cause) {

  /** Why the file cannot be spliced, if a reader of rows may still read it. */
  private[parquet] def refusal: Option[String] = cause match {
    case why: NotSpliceable => Some(why.reason(file))
    case _ => None
  }

  /** Whether the file violates the format. */
  private[parquet] def isMalformed: Boolean = cause.isInstanceOf[MalformedPage]
}

object UnreadableInput {

  /** Reports a failure of `read` as a failure to read the file, unless it names another file. */
  def naming[T](file: String)(read: => T): T =
    try read
    catch {
      case named: UnreadableInput => throw named
      case NonFatal(e) => throw new UnreadableInput(file, e)
    }
}
