package io.deltaupkeep.health

/** How urgent a finding is. */
sealed abstract class Severity(val name: String) extends Serializable

object Severity {
  case object Ok extends Severity("ok")
  case object Info extends Severity("info")
  case object Warning extends Severity("warning")
  case object Critical extends Severity("critical")
}

/**
 * A number behind a check.
 *
 * @param series the series that it belongs to, such as the bars of a histogram or the days of a log
 * @param label  its label in the series, which is ordered
 * @param count  number of files, or of whatever the series counts
 * @param bytes  their size
 */
final case class HealthDetail(series: String, label: String, count: Long, bytes: Long)

/**
 * A result row of DESCRIBE HEALTH: one check of the table.
 *
 * @param path     root of the table
 * @param check    its name, stable between versions
 * @param severity `ok`, `info`, `warning` or `critical`
 * @param value    the number behind the check; null if there is none
 * @param unit     unit of `value`
 * @param message  what was found
 * @param why      what it means for readers and writers
 * @param remedy   the statement that fixes the problem; null if there is none
 * @param details  the numbers behind `value`
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
