package io.deltaupkeep.parquet.encoding

import io.deltaupkeep.parquet.bytes.{LittleEndian, MalformedPage}

import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * The layout of a column's values in PLAIN encoding (Parquet format, 'Plain').
 *
 * @param width bytes of each value; 0 if a length of four bytes precedes each. A boolean takes a byte here,
 *              but a bit in the file.
 */
private[parquet] final case class ValueShape(width: Int, isBoolean: Boolean) {
  def isVariable: Boolean = width == 0
}

private[parquet] object ValueShape {
  def of(primitive: PrimitiveType): ValueShape = primitive.getPrimitiveTypeName match {
    case PrimitiveTypeName.BOOLEAN => ValueShape(1, isBoolean = true)
    case PrimitiveTypeName.INT32 | PrimitiveTypeName.FLOAT => ValueShape(4, isBoolean = false)
    case PrimitiveTypeName.INT64 | PrimitiveTypeName.DOUBLE => ValueShape(8, isBoolean = false)
    case PrimitiveTypeName.INT96 => ValueShape(12, isBoolean = false)
    case PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY => ValueShape(primitive.getTypeLength, isBoolean = false)
    case PrimitiveTypeName.BINARY => ValueShape(0, isBoolean = false)
  }
}

/**
 * PLAIN values of a page or a dictionary, in place. The encoded form of a value is its bytes, preceded by
 * their length if the shape is variable. Values are hashed, compared and copied in this form.
 */
private[parquet] final class Values {

  private var shape = ValueShape(0, isBoolean = false)
  private var bytes: Array[Byte] = Array.emptyByteArray
  private var base = 0
  private var starts: Array[Int] = Array.emptyIntArray
  private var count = 0

  def array: Array[Byte] = bytes

  def size: Int = count

  /** Whether all values have the same width. */
  def isFixed: Boolean = !shape.isVariable

  /** Where the encoded value `i` starts; for `size`, where the last one ends. */
  def start(i: Int): Int = if (shape.isVariable) starts(i) else base + i * shape.width

  /** Points at `values` values of an array, which must not change. */
  def set(kind: ValueShape, source: Array[Byte], from: Int, to: Int, values: Int): this.type = {
    shape = kind
    bytes = source
    base = from
    count = values
    if (shape.isVariable) {
      // Each has four bytes for its length.
      if (values > (to - from) / 4) throw new MalformedPage(s"$values values are cut off")
      if (starts.length < values + 1) starts = new Array[Int](math.max(values + 1, 2 * starts.length))
      var at = from
      var i = 0
      while (i < values) {
        starts(i) = at
        val length = if (at + 4 <= to) LittleEndian.getInt(source, at) else -1
        if (length < 0 || length > to - at - 4) throw new MalformedPage(s"value $i of $values is cut off")
        at += 4 + length
        i += 1
      }
      starts(values) = at
    } else if (from.toLong + values.toLong * shape.width > to)
      throw new MalformedPage(s"$values values of ${shape.width} bytes are cut off")
    this
  }

  /**
   * The same for values of variable width whose places are known.
   *
   * @param at where each value starts, and then where the last one ends
   */
  def setAt(source: Array[Byte], at: Array[Int], values: Int): this.type = {
    shape = ValueShape(0, isBoolean = false)
    bytes = source
    base = at(0)
    starts = at
    count = values
    this
  }

  /** Bytes of the encoded values from `i` until `j`, which are contiguous. */
  def encodedLength(i: Int, j: Int): Int = start(j) - start(i)
}
