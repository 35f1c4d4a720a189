package io.deltaupkeep.parquet.file

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.bytes.{MalformedPage, NotSpliceable, TooLarge}

/**
 * Why an input cannot be spliced.
 *
 * @param isMalformed whether it violates the format, so that only a row reader can tell what it holds
 * @param isDamaged   whether no reader can tell what it holds
 * @param times       how many times the memory allowed it takes, if that is why; else 1
 */
final case class Refusal(
    reason: String,
    isMalformed: Boolean = false,
    isDamaged: Boolean = false,
    times: Double = 1
)

object Refusal {

  /** How many times the memory allowed something is taken to need where footers did not tell. */
  private[parquet] val Unforeseen = 4d

  /** The result of work on one input, or why that input is refused. Every other failure is thrown. */
  private[parquet] def orElse[T](work: => Either[String, T]): Either[Refusal, T] =
    try work.left.map(Refusal(_))
    catch { case OfInput(refusal) => Left(refusal) }

  /** Matches a failure that refuses an input, because a reader of rows may still read it. */
  private[parquet] object OfInput {
    def unapply(failure: UnreadableInput): Option[Refusal] = failure.getCause match {
      case why: NotSpliceable =>
        val times = if (why.isInstanceOf[TooLarge]) Unforeseen else 1
        Some(Refusal(why.reason(failure.file), isMalformed = why.isInstanceOf[MalformedPage], times = times))
      case _ => None
    }
  }
}
