package org.apache.spark.sql.delta.upkeep.spark

import java.time.{DateTimeException, LocalDate}

/** Timestamps as Delta's writers write them into statistics, `2026-01-31T23:59:59.999Z`. */
private[upkeep] object UtcTimestamp {

  /** What [[parse]] returns for any other text; it is not a whole millisecond. */
  val Unknown: Long = Long.MinValue

  private val Form = "0000-00-00T00:00:00.000Z"

  /** Microseconds since the epoch. */
  def parse(text: Array[Char], from: Int, length: Int): Long =
    if (!hasForm(text, from, length)) Unknown
    else {
      def number(at: Int, digits: Int): Int = {
        var value = 0
        var i = from + at
        while (i < from + at + digits) {
          value = value * 10 + text(i) - '0'
          i += 1
        }
        value
      }
      val (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
      if (hour > 23 || minute > 59 || second > 59) Unknown
      else
        try {
          val day = LocalDate.of(number(0, 4), number(5, 2), number(8, 2)).toEpochDay
          val seconds = ((day * 24 + hour) * 60 + minute) * 60 + second
          (seconds * 1000 + number(20, 3)) * 1000
        } catch { case _: DateTimeException => Unknown }
    }

  private def hasForm(text: Array[Char], from: Int, length: Int): Boolean = length == Form.length && {
    var i = 0
    while (i < length && fits(Form.charAt(i), text(from + i))) i += 1
    i == length
  }

  private def fits(form: Char, found: Char): Boolean =
    if (form == '0') found >= '0' && found <= '9' else found == form
}
