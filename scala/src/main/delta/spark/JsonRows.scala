package org.apache.spark.sql.delta.upkeep.spark

import java.util

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonToken}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.json.{JacksonParser, JSONOptions}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, LongType, StringType, StructType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Reads JSON objects as rows. Spark's own parser reads all values except the simplest. It does not read the
 * objects, because it would go through the whole schema for each of them. Not thread-safe.
 */
private[upkeep] final class JsonRows(schema: StructType, sqlConf: SQLConf) {
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
    private val readers: Array[JsonParser => Any] = of.map(field => readerOf(field.dataType)).toArray
    of.fieldNames.zipWithIndex.foreach { case (name, i) => ordinals.put(name, i) }

    // The names of the last object. The next one mostly has them in the same order, and the parser interns
    // them.
    private val lastNames = new Array[String](2 * readers.length)
    private val lastOrdinals = new Array[Int](lastNames.length)

    def read(json: JsonParser): InternalRow = {
      val values = new Array[Any](readers.length)
      var position = 0
      while (json.nextToken() != JsonToken.END_OBJECT) {
        val ordinal = ordinalOf(json.currentName(), position)
        position += 1
        json.nextToken()
        if (ordinal == Unknown) json.skipChildren() else values(ordinal) = readers(ordinal)(json)
      }
      new GenericInternalRow(values)
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

  private def readerOf(dataType: DataType): JsonParser => Any = {
    val ofSpark = parser.makeConverter(dataType)
    dataType match {
      case struct: StructType =>
        val reader = new ObjectReader(struct)
        json => if (json.currentToken() == JsonToken.START_OBJECT) reader.read(json) else ofSpark(json)
      case StringType =>
        json =>
          if (json.currentToken() == JsonToken.VALUE_STRING) UTF8String.fromString(json.getText)
          else ofSpark(json)
      case LongType =>
        json =>
          if (json.currentToken() == JsonToken.VALUE_NUMBER_INT) json.getLongValue else ofSpark(json)
      case TimestampType =>
        json =>
          if (json.currentToken() == JsonToken.VALUE_STRING) {
            val micros =
              UtcTimestamp.parse(json.getTextCharacters, json.getTextOffset, json.getTextLength)
            if (micros == UtcTimestamp.Unknown) ofSpark(json) else micros
          } else ofSpark(json)
      case _ => ofSpark
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
