package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  Cast,
  EvalMode,
  Expression,
  GenericInternalRow
}
import org.apache.spark.sql.catalyst.util.MapData
import org.apache.spark.sql.delta.Checkpoints
import org.apache.spark.sql.delta.upkeep.spark.StatsParser
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Makes the columns `add` and `remove` of a checkpoint from logged actions, row by row. [[CheckpointSchema]]
 * does the same for a query. Not thread-safe.
 *
 * @param logged schema of the actions
 * @param schema with the two columns
 */
private[upkeep] final class FileColumns(logged: StructType, schema: StructType, sqlConf: SQLConf) {
  import FileColumns._

  private val add = new Column("add")
  private val remove = new Column("remove")

  /**
   * The two columns of a file action.
   *
   * @param path canonical, of the file
   */
  def apply(action: InternalRow, path: UTF8String): InternalRow =
    InternalRow(add.of(action, path), remove.of(action, path))

  private final class Column(name: String) {
    private val ordinal = logged.fieldIndex(name)
    private val size = fieldsOf(logged, name).size
    private val fields = makeFields(name)

    def of(action: InternalRow, path: UTF8String): InternalRow =
      if (action.isNullAt(ordinal)) null else row(fields, action.getStruct(ordinal, size), path)
  }

  private def row(fields: Array[Field], action: InternalRow, path: UTF8String): InternalRow = {
    val values = new Array[Any](fields.length)
    var i = 0
    while (i < fields.length) {
      values(i) = fields(i)(action, path)
      i += 1
    }
    new GenericInternalRow(values)
  }

  private def makeFields(column: String): Array[Field] = {
    def ordinal(name: String) = fieldsOf(logged, column).fieldIndex(name)
    def fieldOf(name: String, dataType: DataType): Field = (name, dataType) match {
      case ("path", _) => (_, path) => path
      case ("dataChange", _) => (_, _) => false
      case (Checkpoints.STRUCT_STATS_COL_NAME, stats: StructType) =>
        parsedStats(ordinal("stats"), stats)
      case (Checkpoints.STRUCT_PARTITIONS_COL_NAME, values: StructType) =>
        parsedPartitionValues(ordinal("partitionValues"), values)
      case _ => copied(ordinal(name), dataType)
    }
    fieldsOf(schema, column).map(field => fieldOf(field.name, field.dataType)).toArray
  }

  private def copied(ordinal: Int, dataType: DataType): Field =
    (action, _) => if (action.isNullAt(ordinal)) null else action.get(ordinal, dataType)

  private def parsedStats(ordinal: Int, stats: StructType): Field = {
    val parser = new StatsParser(stats, sqlConf)
    (action, _) => if (action.isNullAt(ordinal)) null else parser.parse(action.getUTF8String(ordinal))
  }

  private def parsedPartitionValues(ordinal: Int, values: StructType): Field = {
    val text = BoundReference(0, StringType, nullable = true)
    val casts = values.map { field =>
      val cast: Expression = Cast(text, field.dataType, Some(sqlConf.sessionLocalTimeZone), EvalMode.LEGACY)
      UTF8String.fromString(field.name) -> cast
    }.toArray
    (action, _) => {
      val stored = if (action.isNullAt(ordinal)) None else Some(action.getMap(ordinal))
      val parsed = casts.map { case (name, cast) =>
        cast.eval(InternalRow(stored.flatMap(valueOf(_, name)).orNull))
      }
      new GenericInternalRow(parsed)
    }
  }
}

private[upkeep] object FileColumns {

  /** A field of the action, from the logged one and its path. */
  private type Field = (InternalRow, UTF8String) => Any

  private def fieldsOf(schema: StructType, column: String): StructType =
    schema(column).dataType.asInstanceOf[StructType]

  private def valueOf(values: MapData, name: UTF8String): Option[UTF8String] = {
    val keys = values.keyArray()
    (0 until values.numElements()).find(keys.getUTF8String(_) == name).flatMap { i =>
      Option.when(!values.valueArray().isNullAt(i))(values.valueArray().getUTF8String(i))
    }
  }
}
