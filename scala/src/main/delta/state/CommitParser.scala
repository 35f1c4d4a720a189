package org.apache.spark.sql.delta.upkeep.state

import scala.util.Using

import com.fasterxml.jackson.core.{JsonParser, JsonToken}

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.read.CheckpointSchema
import org.apache.spark.sql.delta.upkeep.spark.JsonRows
import org.apache.spark.sql.delta.upkeep.table.DamagedAction
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/**
 * Reads the actions of commits without a Spark job. Not thread-safe.
 *
 * @param schema a column for each kind of action that is read
 */
private[upkeep] final class CommitParser(
    conf: Configuration,
    sqlConf: SQLConf,
    schema: StructType = CommitParser.Schema
) {

  private val rows = new JsonRows(schema, sqlConf)

  /**
   * Calls `use` with each line of a commit, or of a checkpoint in JSON, as a row. Actions of other kinds give a row of
   * nulls.
   *
   * @throws DamagedAction a line is no action
   */
  def foreach(split: CommitSplit)(use: InternalRow => Unit): Unit =
    Using.resource(rows.factory.createParser(split.lines(conf))) { json =>
      Iterator.continually(next(json)).takeWhile(_ != null).foreach(use)
    }

  private def next(json: JsonParser): InternalRow = DamagedAction.in {
    json.nextToken() match {
      case null => null
      case JsonToken.START_OBJECT => rows.read(json)
      case other => throw new IllegalArgumentException(s"$other where an object was expected")
    }
  }
}

private[upkeep] object CommitParser {

  /** Of actions that checkpoints hold, as Delta's log has them. */
  val Schema: StructType = StructType(CheckpointSchema.Columns.map(Action.logSchema(_)))
}
