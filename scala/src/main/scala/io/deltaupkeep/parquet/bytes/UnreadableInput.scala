package io.deltaupkeep.parquet.bytes

import scala.util.control.NonFatal

/** An input that cannot be read. */
final class UnreadableInput(val file: String, cause: Throwable)
    extends RuntimeException(s"Cannot read $file: ${cause.getMessage}", cause) {

  /** Why the file cannot be spliced, where that is all: a reader of rows may read it. */
  private[parquet] def refusal: Option[String] = cause match {
    case why: NotSpliceable => Some(why.reason(file))
    case _ => None
  }
}

private[parquet] object UnreadableInput {

  /** A failure of `read` is one to read the file. */
  def naming[T](file: String)(read: => T): T =
    try read
    catch { case NonFatal(e) => throw new UnreadableInput(file, e) }
}
