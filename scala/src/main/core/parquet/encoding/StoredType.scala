package io.deltaupkeep.parquet.encoding

import java.math.BigInteger

import io.deltaupkeep.parquet.bytes.{ByteSink, LittleEndian, MalformedPage, NotHeld}

import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/** What the values of a column mean, and how they are stored. */
private[encoding] sealed trait StoredType

private[encoding] object StoredType {

  /** Signed integers. */
  final case class Whole(storage: FixedNumber) extends StoredType
  case object Floats extends StoredType
  case object Doubles extends StoredType

  final case class Decimal(precision: Int, scale: Int, storage: Storage) extends StoredType {
    def wholeDigits: Int = precision - scale
  }

  case object Days extends StoredType

  /** Points in time, in units of so many microseconds. */
  final case class Instants(micros: Long) extends StoredType

  /** Timestamps without a time zone. */
  final case class Local(micros: Long) extends StoredType

  /** INT96: points in time as days and nanoseconds. */
  case object OldInstants extends StoredType

  /** None for types that are never converted. */
  def of(primitive: PrimitiveType): Option[StoredType] =
    (primitive.getPrimitiveTypeName, primitive.getLogicalTypeAnnotation) match {
      case (INT32, null) => Some(Whole(Ints))
      case (INT64, null) => Some(Whole(Longs))
      case (INT32, ints: IntLogicalTypeAnnotation) if ints.isSigned => Some(Whole(Ints))
      case (INT64, ints: IntLogicalTypeAnnotation) if ints.isSigned => Some(Whole(Longs))
      case (FLOAT, null) => Some(Floats)
      case (DOUBLE, null) => Some(Doubles)
      case (_, decimal: DecimalLogicalTypeAnnotation) =>
        Storage.of(primitive).map(Decimal(decimal.getPrecision, decimal.getScale, _))
      case (INT32, _: DateLogicalTypeAnnotation) => Some(Days)
      case (INT96, _) => Some(OldInstants)
      case (INT64, time: TimestampLogicalTypeAnnotation) =>
        val micros = time.getUnit match {
          case TimeUnit.MICROS => Some(1L)
          case TimeUnit.MILLIS => Some(1000L)
          case TimeUnit.NANOS => None
        }
        micros.map(if (time.isAdjustedToUTC) Instants(_) else Local(_))
      case _ => None
    }
}

/** How numbers are stored (Parquet format, 'Plain' and 'DECIMAL'). */
private[encoding] sealed trait Storage {
  def readBig(source: Array[Byte], start: Int, end: Int): BigInteger
  def writeBig(value: BigInteger, into: ByteSink): Unit
}

private[encoding] object Storage {
  def of(primitive: PrimitiveType): Option[Storage] = primitive.getPrimitiveTypeName match {
    case INT32 => Some(Ints)
    case INT64 => Some(Longs)
    case FIXED_LEN_BYTE_ARRAY => Some(FixedBytes(primitive.getTypeLength))
    case BINARY => Some(VariableBytes)
    case _ => None
  }

  def bigEndian(source: Array[Byte], start: Int, end: Int): BigInteger =
    if (start == end) throw new MalformedPage("a decimal of no bytes")
    else new BigInteger(source, start, end - start)
}

private[encoding] sealed abstract class FixedNumber(val bytes: Int) extends Storage {
  def read(source: Array[Byte], start: Int): Long
  def write(value: Long, into: ByteSink): Unit

  override def readBig(source: Array[Byte], start: Int, end: Int): BigInteger =
    BigInteger.valueOf(read(source, start))

  override def writeBig(value: BigInteger, into: ByteSink): Unit =
    if (value.bitLength > 63) throw new NotHeld("a decimal is too large for its new type")
    else write(value.longValue, into)
}

private[encoding] case object Ints extends FixedNumber(4) {
  override def read(source: Array[Byte], start: Int): Long = LittleEndian.getInt(source, start).toLong
  override def write(value: Long, into: ByteSink): Unit =
    if (value.toInt != value) throw new NotHeld("a number is too large for its new type")
    else into.putInt(value.toInt)
}

private[encoding] case object Longs extends FixedNumber(8) {
  override def read(source: Array[Byte], start: Int): Long = LittleEndian.getLong(source, start)
  override def write(value: Long, into: ByteSink): Unit = into.putLong(value)
}

private[encoding] final case class FixedBytes(width: Int) extends Storage {
  override def readBig(source: Array[Byte], start: Int, end: Int): BigInteger =
    Storage.bigEndian(source, start, end)

  override def writeBig(value: BigInteger, into: ByteSink): Unit = {
    val bytes = value.toByteArray
    if (bytes.length > width) throw new NotHeld("a decimal is too large for its new type")
    for (_ <- bytes.length until width) into.put(if (value.signum < 0) 0xff else 0)
    into.putBytes(bytes, 0, bytes.length)
  }
}

private[encoding] case object VariableBytes extends Storage {
  private val LengthBytes = 4

  override def readBig(source: Array[Byte], start: Int, end: Int): BigInteger =
    Storage.bigEndian(source, start + LengthBytes, end)

  override def writeBig(value: BigInteger, into: ByteSink): Unit = {
    val bytes = value.toByteArray
    into.putInt(bytes.length)
    into.putBytes(bytes, 0, bytes.length)
  }
}
