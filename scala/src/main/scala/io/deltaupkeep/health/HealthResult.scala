package io.deltaupkeep.health

/** How much a check asks for attention. */
sealed abstract class Severity(val name: String)

object Severity {
  case object Ok extends Severity("ok")
  case object Info extends Severity("info")
  case object Warning extends Severity("warning")
  case object Critical extends Severity("critical")
}

/**
 * A number behind a check.
 *
 * @param series what it belongs to: the bars of a histogram, the days of a log
 * @param label  its place in the series, in words; a series comes in order
 * @param count  files, or what else the series counts
 * @param bytes  of them
 */
final case class HealthDetail(series: String, label: String, count: Long, bytes: Long)

/**
 * A result row of DESCRIBE HEALTH: one check of the table.
 *
 * @param path     root of the table
 * @param check    its name, stable between versions
 * @param severity `ok`, `info`, `warning` or `critical`
 * @param value    the number behind it, null where there is none
 * @param unit     of the number
 * @param message  what was found
 * @param why      what it means for readers and writers
 * @param remedy   the statement that mends it, null where nothing needs mending
 * @param details  the numbers behind that one
 */
final case class HealthResult(
    path: String,
    check: String,
    severity: String,
    value: Option[Double],
    unit: String,
    message: String,
    why: String,
    remedy: Option[String],
    details: Seq[HealthDetail]
)
