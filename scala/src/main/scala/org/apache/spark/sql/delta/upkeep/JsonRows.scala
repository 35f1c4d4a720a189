package org.apache.spark.sql.delta.upkeep

import java.util

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonToken}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.json.{JacksonParser, JSONOptions}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Reads JSON objects as rows. Values are read by Spark's own parser; objects are not, because it looks at the
 * whole schema again for each of them. For one thread at a time.
 */
private[upkeep] final class JsonRows(schema: StructType, sqlConf: SQLConf) {
  import JsonRows._

  private val options = optionsOf(sqlConf)

  /** Spark's own. */
  val parser: JacksonParser = new JacksonParser(schema, options, allowArrayAsStructs = false)

  val factory: JsonFactory = options.buildJsonFactory()

  private val root = new ObjectReader(schema)

  /** The object that the parser has come to the start of. Throws what Spark's parser would. */
  def read(json: JsonParser): InternalRow = root.read(json)

  private final class ObjectReader(of: StructType) {
    private val ordinals = new util.HashMap[String, Integer]
    private val readers: Array[JsonParser => Any] = of.map(field => readerOf(field.dataType)).toArray
    of.fieldNames.zipWithIndex.foreach { case (name, i) => ordinals.put(name, i) }

    def read(json: JsonParser): InternalRow = {
      val values = new Array[Any](readers.length)
      while (json.nextToken() != JsonToken.END_OBJECT) {
        val ordinal = ordinals.get(json.currentName())
        json.nextToken()
        if (ordinal == null) json.skipChildren() else values(ordinal) = readers(ordinal)(json)
      }
      new GenericInternalRow(values)
    }
  }

  private def readerOf(dataType: DataType): JsonParser => Any = {
    val ofSpark = parser.makeConverter(dataType)
    dataType match {
      case struct: StructType =>
        val reader = new ObjectReader(struct)
        json => if (json.currentToken() == JsonToken.START_OBJECT) reader.read(json) else ofSpark(json)
      case _ => ofSpark
    }
  }
}

private[upkeep] object JsonRows {

  /** Those of Delta's queries. */
  def optionsOf(sqlConf: SQLConf): JSONOptions =
    new JSONOptions(
      Map.empty[String, String],
      sqlConf.sessionLocalTimeZone,
      sqlConf.columnNameOfCorruptRecord
    )
}
