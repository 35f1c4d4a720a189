package io.deltaupkeep.parquet.cut

import io.deltaupkeep.parquet.bytes.LittleEndian
import io.deltaupkeep.parquet.encoding.Values

import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/**
 * The values of a column as words of 64 bits, which are compared as unsigned numbers, the first one first. So their
 * order is that of Spark: NaN is the greatest number, both zeros are equal, texts go by their bytes.
 */
private[cut] sealed abstract class ValueWords {

  /** Number of words. Shorter ones continue with zeros. */
  def words(value: Int): Int

  def word(value: Int, at: Int): Long
}

private[cut] object ValueWords {

  /** Texts that differ after so many words count as equal. */
  val MostWords: Int = 128

  def of(primitive: PrimitiveType, values: Values): ValueWords = {
    val isDecimal = isDecimalType(primitive)
    primitive.getPrimitiveTypeName match {
      case BOOLEAN => new OneWord(values)((bytes, at) => bytes(at).toLong)
      case INT32 => new OneWord(values)((bytes, at) => signed(LittleEndian.getInt(bytes, at).toLong))
      case INT64 => new OneWord(values)((bytes, at) => signed(LittleEndian.getLong(bytes, at)))
      case FLOAT => new OneWord(values)((bytes, at) =>
          floating(java.lang.Float.intBitsToFloat(LittleEndian.getInt(bytes, at)).toDouble)
        )
      case DOUBLE => new OneWord(values)((bytes, at) =>
          floating(java.lang.Double.longBitsToDouble(LittleEndian.getLong(bytes, at)))
        )
      case INT96 => new OneWord(values)((bytes, at) => signed(micros(bytes, at)))
      case FIXED_LEN_BYTE_ARRAY if isDecimal => new BigNumbers(values, lengthBytes = 0)
      case BINARY if isDecimal => new BigNumbers(values, LengthBytes)
      case FIXED_LEN_BYTE_ARRAY => new Texts(values, lengthBytes = 0)
      case BINARY => new Texts(values, LengthBytes)
    }
  }

  /** The same words for the same value, however files store it: decimals have four forms, and timestamps two. */
  def ofAnyForm(primitive: PrimitiveType, values: Values): ValueWords = primitive.getPrimitiveTypeName match {
    case INT32 if isDecimalType(primitive) =>
      new TwoWords(values)((bytes, at) => LittleEndian.getInt(bytes, at).toLong)
    case INT64 if isDecimalType(primitive) => new TwoWords(values)(LittleEndian.getLong)
    case _ => of(primitive, values)
  }

  private def isDecimalType(primitive: PrimitiveType): Boolean =
    primitive.getLogicalTypeAnnotation.isInstanceOf[DecimalLogicalTypeAnnotation]

  private val LengthBytes = 4

  private def signed(number: Long): Long = number ^ Long.MinValue

  private def floating(number: Double): Long = {
    val bits = java.lang.Double.doubleToLongBits(if (number == 0) 0.0 else number)
    if (bits < 0) ~bits else bits ^ Long.MinValue
  }

  /** Since the epoch, of nanoseconds of a Julian day, and the day (Parquet format, INT96). */
  private def micros(bytes: Array[Byte], at: Int): Long =
    (LittleEndian.getInt(bytes, at + 8) - DayOfEpoch) * 86400000000L + LittleEndian.getLong(bytes, at) / 1000

  private val DayOfEpoch = 2440588L

  private final class OneWord(values: Values)(read: (Array[Byte], Int) => Long) extends ValueWords {
    override def words(value: Int): Int = 1
    override def word(value: Int, at: Int): Long = read(values.array, values.start(value))
  }

  /** Numbers as [[BigNumbers]] has them. */
  private final class TwoWords(values: Values)(read: (Array[Byte], Int) => Long) extends ValueWords {
    override def words(value: Int): Int = 2
    override def word(value: Int, at: Int): Long = {
      val number = read(values.array, values.start(value))
      if (at == 0) signed(number >> 63) else number
    }
  }

  /** Numbers of up to 16 bytes, the highest first, in two's complement. */
  private final class BigNumbers(values: Values, lengthBytes: Int) extends ValueWords {
    override def words(value: Int): Int = 2

    override def word(value: Int, at: Int): Long = {
      val start = values.start(value) + lengthBytes
      val end = values.start(value + 1)
      val sign = if (end > start) values.array(start) >> 7 else 0
      var word = sign.toLong
      var i = end - (2 - at) * 8
      while (i < end - (1 - at) * 8) {
        word = word << 8 | ((if (i < start) sign else values.array(i).toInt) & 0xff)
        i += 1
      }
      if (at == 0) signed(word) else word
    }
  }

  private final class Texts(values: Values, lengthBytes: Int) extends ValueWords {
    override def words(value: Int): Int = {
      val length = values.start(value + 1) - values.start(value) - lengthBytes
      math.min((length + 7) / 8, MostWords)
    }

    override def word(value: Int, at: Int): Long = {
      val start = values.start(value) + lengthBytes + 8L * at
      val end = values.start(value + 1)
      if (start + 8 <= end)
        java.lang.Long.reverseBytes(LittleEndian.getLong(values.array, start.toInt))
      else {
        var word = 0L
        var i = start
        while (i < start + 8) {
          word = word << 8 | (if (i < end) values.array(i.toInt) & 0xff else 0)
          i += 1
        }
        word
      }
    }
  }
}
