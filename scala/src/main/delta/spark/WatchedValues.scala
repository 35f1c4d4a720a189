package org.apache.spark.sql.delta.upkeep.spark

import org.apache.parquet.column.Dictionary
import org.apache.parquet.io.api.{Binary, Converter, GroupConverter, PrimitiveConverter, RecordMaterializer}
import org.apache.parquet.schema.GroupType

/** Receives the values of a column as they are read. */
private[upkeep] trait ValueWatch {
  def see(value: Any): Unit
}

/**
 * Makes the rows of another materializer, and shows each Parquet value to a watch on the way.
 *
 * @param watchOf the watch of a column, by its path
 */
private[upkeep] final class WatchedValues[T](
    rows: RecordMaterializer[T],
    schema: GroupType,
    watchOf: Seq[String] => ValueWatch
) extends RecordMaterializer[T] {

  private val root = new Group(rows.getRootConverter, schema, Vector.empty)

  override def getRootConverter: GroupConverter = root

  override def getCurrentRecord: T = rows.getCurrentRecord

  private final class Group(of: GroupConverter, group: GroupType, path: Vector[String])
      extends GroupConverter {
    private val fields = Array.tabulate[Converter](group.getFieldCount) { i =>
      val (field, at) = (group.getType(i), path :+ group.getFieldName(i))
      val converter = of.getConverter(i)
      if (field.isPrimitive) new Value(converter.asPrimitiveConverter, watchOf(at))
      else new Group(converter.asGroupConverter, field.asGroupType, at)
    }
    override def getConverter(fieldIndex: Int): Converter = fields(fieldIndex)
    override def start(): Unit = of.start()
    override def end(): Unit = of.end()
  }

  private final class Value(of: PrimitiveConverter, watch: ValueWatch) extends PrimitiveConverter {
    // Values are shown one by one.
    override def hasDictionarySupport: Boolean = false
    override def setDictionary(dictionary: Dictionary): Unit = throw new UnsupportedOperationException
    override def addBinary(value: Binary): Unit = seen(value)(of.addBinary(value))
    override def addBoolean(value: Boolean): Unit = seen(value)(of.addBoolean(value))
    override def addDouble(value: Double): Unit = seen(value)(of.addDouble(value))
    override def addFloat(value: Float): Unit = seen(value)(of.addFloat(value))
    override def addInt(value: Int): Unit = seen(value)(of.addInt(value))
    override def addLong(value: Long): Unit = seen(value)(of.addLong(value))

    private def seen(value: Any)(add: => Unit): Unit = {
      watch.see(value)
      add
    }
  }
}
