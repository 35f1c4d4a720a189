package org.apache.spark.sql.delta.upkeep.spark

import scala.util.Using
import scala.util.control.NonFatal

import com.fasterxml.jackson.core.JsonToken

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.json.CreateJacksonParser
import org.apache.spark.sql.catalyst.util.{FailureSafeParser, PermissiveMode}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/** Reads statistics as `from_json` does. A row is valid until the next one. Not thread-safe. */
private[upkeep] final class StatsParser(stats: StructType, sqlConf: SQLConf) {

  private val rows = new JsonRows(stats, sqlConf, isStatistics = true)
  private val permissive = new FailureSafeParser[UTF8String](
    text => rows.parser.parse[UTF8String](text, CreateJacksonParser.utf8String, identity),
    PermissiveMode,
    stats,
    sqlConf.columnNameOfCorruptRecord
  )

  /** If a column or the whole text does not match the schema, Spark's own parser decides what is kept. */
  def parse(text: UTF8String): InternalRow =
    try
      Using.resource(rows.factory.createParser(text.getBytes)) { json =>
        if (json.nextToken() == JsonToken.START_OBJECT) rows.read(json) else parsePermissively(text)
      }
    catch { case NonFatal(_) => parsePermissively(text) }

  private def parsePermissively(text: UTF8String): InternalRow = {
    val parsed = permissive.parse(text)
    if (parsed.hasNext) parsed.next() else null
  }
}
