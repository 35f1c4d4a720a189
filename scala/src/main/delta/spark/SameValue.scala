package org.apache.spark.sql.delta.upkeep.spark

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._

/** Whether two of Spark's internal values are the same: 0.0 is not -0.0, and NaN is NaN. */
private[upkeep] object SameValue {

  def apply(dataType: DataType, a: Any, b: Any): Boolean =
    if (a == null || b == null) a == null && b == null
    else
      (dataType, a, b) match {
        case (FloatType, x: Float, y: Float) => java.lang.Float.compare(x, y) == 0
        case (DoubleType, x: Double, y: Double) => java.lang.Double.compare(x, y) == 0
        case (_, x: Array[Byte], y: Array[Byte]) => Arrays.equals(x, y)
        case (struct: StructType, x: InternalRow, y: InternalRow) =>
          struct.fields.indices.forall { i =>
            val field = struct(i).dataType
            apply(field, valueOf(x, i, field), valueOf(y, i, field))
          }
        case (ArrayType(element, _), x: ArrayData, y: ArrayData) => ofArrays(element, x, y)
        case (MapType(key, value, _), x: MapData, y: MapData) =>
          ofArrays(key, x.keyArray(), y.keyArray()) && ofArrays(value, x.valueArray(), y.valueArray())
        case _ => a == b
      }

  private def valueOf(row: InternalRow, i: Int, dataType: DataType): Any =
    if (row.isNullAt(i)) null else row.get(i, dataType)

  private def ofArrays(element: DataType, x: ArrayData, y: ArrayData): Boolean = {
    def valueOf(array: ArrayData, i: Int): Any = if (array.isNullAt(i)) null else array.get(i, element)
    x.numElements() == y.numElements() &&
    (0 until x.numElements()).forall(i => apply(element, valueOf(x, i), valueOf(y, i)))
  }
}
