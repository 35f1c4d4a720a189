package org.apache.spark.sql.delta.upkeep.spark

import java.time.{DateTimeException, LocalDate}

import org.apache.spark.sql.types.{Decimal, DecimalType}

/**
 * Dates, times and decimal numbers in the forms that Delta's writers give them in statistics. Any other form is unknown here,
 * and Spark's own parser reads it.
 */
private[upkeep] object LoggedText {

  /** Reads a part of a text. */
  trait Read {
    def apply(text: Array[Char], from: Int, length: Int): Long
  }

  /** No day, no whole millisecond, and more digits than a decimal of 64 bits has. */
  val Unknown: Long = Long.MinValue

  private val Day = "0000-00-00"
  private val Time = "0000-00-00T00:00:00.000"
  private val Offsets = Seq("+00:00", "-00:00")

  /** As for Java's. */
  private val MaxOffsetMinutes = 18 * 60L

  /** Before this year, dates of Spark's old parser are of another calendar. */
  private val FirstYear = 1583

  /** Days since the epoch of `2026-01-31`. */
  def day(text: Array[Char], from: Int, length: Int): Long =
    if (!hasForm(Day, text, from, length) || number(text, from, 4) < FirstYear) Unknown
    else
      try dayOf(text, from)
      catch { case _: DateTimeException => Unknown }

  /** Microseconds since the epoch of `2026-01-31T23:59:59.999Z`, or with an offset, which is `-08:00` or the like. */
  def time(text: Array[Char], from: Int, length: Int): Long = {
    val local = timeWithoutZone(text, from, math.min(length, Time.length))
    val minutes = offset(text, from + Time.length, length - Time.length)
    if (local == Unknown || minutes == Unknown) Unknown else local - minutes * 60 * 1000000
  }

  /** Microseconds since the epoch of `2026-01-31T23:59:59.999` in UTC. */
  def timeWithoutZone(text: Array[Char], from: Int, length: Int): Long =
    if (!hasForm(Time, text, from, length)) Unknown
    else {
      val (hour, minute, second) =
        (number(text, from + 11, 2), number(text, from + 14, 2), number(text, from + 17, 2))
      if (hour > 23 || minute > 59 || second > 59) Unknown
      else
        try {
          val seconds = ((dayOf(text, from) * 24 + hour) * 60 + minute) * 60 + second
          (seconds * 1000 + number(text, from + 20, 3)) * 1000
        } catch { case _: DateTimeException => Unknown }
    }

  /** Minutes east of UTC. */
  private def offset(text: Array[Char], from: Int, length: Int): Long =
    if (length == 1 && text(from) == 'Z') 0
    else if (!Offsets.exists(hasForm(_, text, from, length))) Unknown
    else {
      val (hours, minutes) = (number(text, from + 1, 2), number(text, from + 4, 2))
      val all = hours * 60L + minutes
      if (minutes > 59 || all > MaxOffsetMinutes) Unknown else if (text(from) == '-') -all else all
    }

  /** The unscaled value of `-12.5` or `12`, if a decimal of this type, of 64 bits at most, holds it without rounding. */
  def unscaled(text: Array[Char], from: Int, length: Int, dataType: DecimalType): Long = {
    val isNegative = length > 0 && text(from) == '-'
    val end = from + length
    var at = if (isNegative) from + 1 else from
    var value = 0L
    var digits = 0
    var point = -1
    while (
      at < end && digits <= Decimal.MAX_LONG_DIGITS && (isDigit(text(at)) || text(at) == '.' && point < 0)
    ) {
      if (text(at) == '.') point = digits
      else {
        value = value * 10 + text(at) - '0'
        digits += 1
      }
      at += 1
    }
    val zeros = dataType.scale - (if (point < 0) 0 else digits - point)
    if (at < end || digits == 0 || zeros < 0 || digits + zeros > Decimal.MAX_LONG_DIGITS) Unknown
    else {
      val scaled = value * Decimal.POW_10(zeros)
      if (scaled >= Decimal.POW_10(dataType.precision)) Unknown else if (isNegative) -scaled else scaled
    }
  }

  private def dayOf(text: Array[Char], from: Int): Long =
    LocalDate.of(number(text, from, 4), number(text, from + 5, 2), number(text, from + 8, 2)).toEpochDay

  private def number(text: Array[Char], from: Int, digits: Int): Int = {
    var value = 0
    var i = from
    while (i < from + digits) {
      value = value * 10 + text(i) - '0'
      i += 1
    }
    value
  }

  private def hasForm(form: String, text: Array[Char], from: Int, length: Int): Boolean =
    length == form.length && {
      var i = 0
      while (i < length && fits(form.charAt(i), text(from + i))) i += 1
      i == length
    }

  private def fits(form: Char, found: Char): Boolean = if (form == '0') isDigit(found) else found == form

  private def isDigit(char: Char): Boolean = char >= '0' && char <= '9'
}
