package org.apache.spark.sql.delta.upkeep.spark

import java.util

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonToken}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, SpecificInternalRow}
import org.apache.spark.sql.catalyst.json.{JacksonParser, JSONOptions}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Reads JSON objects as rows. Spark's own parser reads all values except the simplest. It does not read the
 * objects, because it would go through the whole schema for each of them. Not thread-safe.
 *
 * @param isStatistics whether the objects are texts of statistics. Then a row is valid until the next one, and a number
 *                     or the like in a column of strings is an error: its spelling depends on how the text is read
 */
private[upkeep] final class JsonRows(schema: StructType, sqlConf: SQLConf, isStatistics: Boolean = false) {
  import JsonRows._

  private val options = optionsOf(sqlConf)

  /** Spark's own. */
  val parser: JacksonParser = new JacksonParser(schema, options, allowArrayAsStructs = false)

  val factory: JsonFactory = {
    val factory = options.buildJsonFactory()
    // A new parser for each text of statistics would look up its buffers in thread-local storage.
    SparkApi.poolBuffers(factory)
    factory
  }

  private val root = new ObjectReader(schema)

  /** Reads the object that begins at the parser's position. Throws what Spark's parser would. */
  def read(json: JsonParser): InternalRow = root.read(json)

  private final class ObjectReader(of: StructType) {
    private val ordinals = new util.HashMap[String, Int]
    private val fields: Array[Reader] = of.map(field => readerOf(field.dataType)).toArray
    of.fieldNames.zipWithIndex.foreach { case (name, i) => ordinals.put(name, i) }
    private lazy val own = new SpecificInternalRow(of)

    // The names of the last object. The next one mostly has them in the same order, and the parser interns
    // them.
    private val lastNames = new Array[String](2 * fields.length)
    private val lastOrdinals = new Array[Int](lastNames.length)

    def read(json: JsonParser): InternalRow = {
      val row = if (isStatistics) cleared else new GenericInternalRow(fields.length)
      var position = 0
      while (json.nextToken() != JsonToken.END_OBJECT) {
        val ordinal = ordinalOf(json.currentName(), position)
        position += 1
        json.nextToken()
        if (ordinal == Unknown) json.skipChildren() else fields(ordinal).read(json, row, ordinal)
      }
      row
    }

    private def cleared: InternalRow = {
      var i = 0
      while (i < fields.length) {
        own.setNullAt(i)
        i += 1
      }
      own
    }

    private def ordinalOf(name: String, position: Int): Int =
      if (position >= lastNames.length) ordinals.getOrDefault(name, Unknown)
      else {
        if (lastNames(position) ne name) {
          lastNames(position) = name
          lastOrdinals(position) = ordinals.getOrDefault(name, Unknown)
        }
        lastOrdinals(position)
      }
  }

  /** Puts the value at the parser's position into a row. */
  private trait Reader {
    def read(json: JsonParser, row: InternalRow, ordinal: Int): Unit
  }

  private def logged(json: JsonParser, fits: Boolean, read: LoggedText.Read): Long =
    if (fits) read(json.getTextCharacters, json.getTextOffset, json.getTextLength) else LoggedText.Unknown

  private def readerOf(dataType: DataType): Reader = {
    val ofSpark = parser.makeConverter(dataType)
    def bySpark(json: JsonParser, row: InternalRow, ordinal: Int): Unit = row.update(ordinal, ofSpark(json))
    dataType match {
      case struct: StructType =>
        val objects = new ObjectReader(struct)
        (json, row, i) =>
          if (json.currentToken() == JsonToken.START_OBJECT) row.update(i, objects.read(json))
          else bySpark(json, row, i)
      case StringType =>
        (json, row, i) =>
          if (json.currentToken() == JsonToken.VALUE_STRING)
            row.update(i, UTF8String.fromString(json.getText))
          else if (isStatistics && json.currentToken() != JsonToken.VALUE_NULL)
            throw new IllegalArgumentException(s"${json.currentToken()} where a text was expected")
          else bySpark(json, row, i)
      case LongType =>
        (json, row, i) =>
          if (json.currentToken() == JsonToken.VALUE_NUMBER_INT) row.setLong(i, json.getLongValue)
          else bySpark(json, row, i)
      case IntegerType =>
        (json, row, i) =>
          if (json.currentToken() == JsonToken.VALUE_NUMBER_INT) row.setInt(i, json.getIntValue)
          else bySpark(json, row, i)
      case DoubleType =>
        (json, row, i) =>
          if (json.currentToken().isNumeric) row.setDouble(i, json.getDoubleValue) else bySpark(json, row, i)
      case DateType =>
        (json, row, i) =>
          val days = logged(json, json.currentToken() == JsonToken.VALUE_STRING, LoggedText.day(_, _, _))
          if (days == LoggedText.Unknown) bySpark(json, row, i) else row.setInt(i, days.toInt)
      case TimestampType =>
        (json, row, i) =>
          val micros = logged(json, json.currentToken() == JsonToken.VALUE_STRING, LoggedText.time(_, _, _))
          if (micros == LoggedText.Unknown) bySpark(json, row, i) else row.setLong(i, micros)
      case TimestampNTZType =>
        (json, row, i) =>
          val micros =
            logged(json, json.currentToken() == JsonToken.VALUE_STRING, LoggedText.timeWithoutZone(_, _, _))
          if (micros == LoggedText.Unknown) bySpark(json, row, i) else row.setLong(i, micros)
      case decimal: DecimalType if decimal.precision <= Decimal.MAX_LONG_DIGITS =>
        val read: LoggedText.Read = LoggedText.unscaled(_, _, _, decimal)
        (json, row, i) =>
          val unscaled = logged(json, json.currentToken().isNumeric, read)
          if (unscaled == LoggedText.Unknown) bySpark(json, row, i)
          else row.update(i, Decimal(unscaled, decimal.precision, decimal.scale))
      case _ => bySpark(_, _, _)
    }
  }
}

private[upkeep] object JsonRows {

  private val Unknown = -1

  /** The options that Delta's queries use. */
  def optionsOf(sqlConf: SQLConf): JSONOptions =
    new JSONOptions(
      Map.empty[String, String],
      sqlConf.sessionLocalTimeZone,
      sqlConf.columnNameOfCorruptRecord
    )
}
