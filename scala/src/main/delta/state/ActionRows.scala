package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.encoderFor
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.delta.actions.{Action, FileAction, SingleAction}
import org.apache.spark.sql.delta.upkeep.read.NonFileActions
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/** Makes rows of a checkpoint from Delta's actions. A row is valid until the next one. */
private[upkeep] object ActionRows {

  /**
   * The columns `add` and `remove`.
   *
   * @param schema with these two
   */
  def ofFiles(actions: Seq[FileAction], schema: StructType, sqlConf: SQLConf): Iterator[InternalRow] = {
    val serialize = encoderFor(SingleAction.encoder).createSerializer()
    val columns = new FileColumns(Action.logSchema, schema, sqlConf)
    actions.iterator.map(action => columns(serialize(action.wrap)))
  }

  /** All columns of non-file actions. */
  def ofOthers(actions: Seq[Action], schema: StructType): Iterator[InternalRow] = {
    val serialize = NonFileActions.encoder.createSerializer()
    val columns = schema.map(column => NonFileActions.encoder.schema.getFieldIndex(column.name)).toArray
    actions.iterator.map { action =>
      val row = serialize(NonFileActions.of(action))
      val values: Array[Any] = columns.map {
        case Some(i) if !row.isNullAt(i) => row.get(i, NonFileActions.encoder.schema(i).dataType)
        case _ => null
      }
      new GenericInternalRow(values)
    }
  }
}
