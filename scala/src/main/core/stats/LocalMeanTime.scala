package io.deltaupkeep.stats

import java.time.Instant

/**
 * Times at which the offset of a zone from UTC may have seconds, which Spark before 4.0 leaves out of the log
 * (`JSONOptions`, pattern `XXX`; later `XXXXX`).
 *
 * Example: Berlin was at +00:53:28 until 1893, and the log has +00:53.
 */
private[deltaupkeep] object LocalMeanTime {

  /** The most that an offset in the log can be off by. */
  val ErrorMicros: Long = 59 * 1000000L

  /** The last zone to have such an offset was that of Monrovia (tz database: -0:44:30 until 1972-01-07). */
  private val Until = Instant.parse("1972-01-08T00:00:00Z")

  /** Whether a text of the log may be that of another instant. */
  def mayBe(text: String, instant: Instant): Boolean =
    instant.isBefore(Until) && text.matches(".*[+-]\\d\\d:\\d\\d")
}
