package io.deltaupkeep

import java.util.Locale
import java.util.concurrent.TimeUnit

import scala.util.Try

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.unsafe.types.UTF8String

/**
 * One option of a statement, declared once: its name as users write it, what it means, and how its text
 * becomes a value.
 *
 * @param name     not case-sensitive
 * @param doc      what the option decides, with its unit and its default
 * @param expected what a value looks like, for the error message
 * @param read     parses a text; None if it is not a valid value
 */
final case class OptionEntry[T](name: String, doc: String, expected: String)(val read: String => Option[T])

object OptionEntry {

  /** A size in bytes, at least one: `134217728`, `128m` or `1g`. */
  def bytes(name: String, doc: String): OptionEntry[Long] =
    OptionEntry(name, doc, "a size in bytes of at least 1, such as 134217728 or '128m'") { text =>
      Try(JavaUtils.byteStringAsBytes(text)).toOption.filter(_ >= 1)
    }

  /** A whole number, at least one. */
  def positive(name: String, doc: String): OptionEntry[Long] =
    OptionEntry(name, doc, "a whole number of at least 1")(_.toLongOption.filter(_ >= 1))

  /** A share between 0 and 1, both included. */
  def ratio(name: String, doc: String): OptionEntry[Double] =
    OptionEntry(name, doc, "a number from 0 to 1")(_.toDoubleOption.filter(r => r >= 0 && r <= 1))

  /** A time in milliseconds, longer than none, as the properties of Delta have it: `7 days` or `interval 1 week`. */
  def duration(name: String, doc: String): OptionEntry[Long] =
    OptionEntry(name, doc, "a time such as '7 days' or '12 hours'") { text =>
      Option(IntervalUtils.safeStringToInterval(UTF8String.fromString(text))).filter(_.months == 0)
        .map(interval => TimeUnit.DAYS.toMillis(interval.days.toLong) + interval.microseconds / 1000)
        .filter(_ > 0)
    }

  /** `true` or `false`, in any case. */
  def flag(name: String, doc: String): OptionEntry[Boolean] =
    oneOf(name, doc)("true" -> true, "false" -> false)

  /** One of a closed set of words, in any case. */
  def oneOf[T](name: String, doc: String)(choices: (String, T)*): OptionEntry[T] =
    OptionEntry(name, doc, choices.map { case (word, _) => s"'$word'" }.mkString(" or ")) { text =>
      choices.collectFirst { case (word, value) if word.equalsIgnoreCase(text) => value }
    }
}

/**
 * The options that a user gave to one statement, checked against those that it knows.
 *
 * @throws UpkeepException `UNKNOWN_OPTION`, `DUPLICATE_OPTION` on creation, `INVALID_OPTION` on reading
 */
final class Options(statement: String, pairs: Seq[(String, String)], known: Seq[OptionEntry[_]]) {

  private val values: Map[String, String] = pairs.foldLeft(Map.empty[String, String]) {
    case (seen, (name, value)) =>
      val key = name.toLowerCase(Locale.ROOT)
      if (!known.exists(_.name.equalsIgnoreCase(name)))
        throw UpkeepErrors.unknownOption(statement, name, known.map(_.name))
      if (seen.contains(key)) throw UpkeepErrors.duplicateOption(statement, name)
      seen + (key -> value)
  }

  def get[T](entry: OptionEntry[T]): Option[T] =
    values.get(entry.name.toLowerCase(Locale.ROOT)).map { text =>
      entry.read(text.trim).getOrElse(throw invalid(entry, text))
    }

  /** For a value that is refused because of other options. */
  def invalid(entry: OptionEntry[_], text: String): UpkeepException =
    UpkeepErrors.invalidOption(statement, entry.name, text, entry.expected)
}
