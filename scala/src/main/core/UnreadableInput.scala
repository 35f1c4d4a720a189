package io.deltaupkeep

import scala.util.control.NonFatal

/**
 * An input that cannot be read.
 *
 * @param ofSplice whether Spark might still read it
 */
final class UnreadableInput(val file: String, cause: Throwable, val ofSplice: Boolean = true)
    extends RuntimeException(s"Cannot read $file: ${cause.getMessage}", cause)

object UnreadableInput {

  /** Reports a failure of `read` as a failure to read the file, unless it names another file. */
  def naming[T](file: String)(read: => T): T =
    try read
    catch {
      case named: UnreadableInput => throw named
      case NonFatal(e) => throw new UnreadableInput(file, e)
    }
}
