package io.deltaupkeep.parquet.encoding

import java.math.BigInteger

import io.deltaupkeep.parquet.bytes.{ByteSink, LittleEndian, NotHeld}

import org.apache.parquet.schema.PrimitiveType

/**
 * Converts the stored values of a file to another physical type (Parquet format, 'Logical Types'). The values stay
 * the same: one that the other type cannot hold is refused.
 */
private[parquet] abstract class ValueConverter {

  /** Appends the converted form of the encoded values from `from` until `to`. */
  final def convert(values: Values, from: Int, to: Int, into: ByteSink): Unit = {
    var i = from
    while (i < to) {
      convert(values.array, values.start(i), values.start(i + 1), into)
      i += 1
    }
  }

  protected def convert(source: Array[Byte], start: Int, end: Int, into: ByteSink): Unit
}

private[parquet] object ValueConverter {
  import StoredType._

  /**
   * Converts from a file's column type to the output's. None if the values of one are not values of the other. Allows
   * all that Delta's type widening does (protocol, 'Type Widening'), and the types that writers use interchangeably.
   */
  def of(file: PrimitiveType, output: PrimitiveType): Option[ValueConverter] =
    for {
      from <- StoredType.of(file)
      to <- StoredType.of(output)
      converter <- between(from, to)
    } yield converter

  private def between(from: StoredType, to: StoredType): Option[ValueConverter] = (from, to) match {
    case (a: Whole, b: Whole) if a.storage.bytes < b.storage.bytes => Some(new Numbers(a.storage, b.storage))
    case (Whole(Ints), Doubles) => Some(IntsToDoubles)
    case (Floats, Doubles) => Some(FloatsToDoubles)
    case (a: Whole, b: Decimal) => Some(decimals(a.storage, scaledBy = b.scale, b))
    case (a: Decimal, b: Decimal) if a.scale <= b.scale && a.wholeDigits <= b.wholeDigits =>
      Some(decimals(a.storage, b.scale - a.scale, b))
    case (Days, Local(unit)) => Some(new Numbers(Ints, Longs, MicrosPerDay, unit))
    case (Instants(a), Instants(b)) => Some(new Numbers(Longs, Longs, a, b))
    case (Local(a), Local(b)) => Some(new Numbers(Longs, Longs, a, b))
    case (OldInstants, Instants(unit)) => Some(new FromOldInstants(unit))
    case (Instants(unit), OldInstants) => Some(new ToOldInstants(unit))
    case _ => None
  }

  private def decimals(from: Storage, scaledBy: Int, to: Decimal): ValueConverter = (from, to.storage) match {
    case (a: FixedNumber, b: FixedNumber) if to.precision <= LongDigits && scaledBy <= LongDigits =>
      val factor = BigInteger.TEN.pow(scaledBy).longValue
      new Numbers(a, b, factor, divisor = 1, below = BigInteger.TEN.pow(to.precision).longValue)
    case (a, b) =>
      new BigNumbers(a, b, BigInteger.TEN.pow(scaledBy), below = BigInteger.TEN.pow(to.precision))
  }

  /** Decimal digits that always fit into 64 bits. */
  private val LongDigits = 18
  private val MicrosPerDay = 86400000000L

  /** INT96 counts days and nanoseconds (Spark's `DateTimeUtils`). */
  private val JulianDayOfEpoch = 2440588L
  private val NanosPerMicro = 1000L

  private def exactly(compute: => Long): Long =
    try compute
    catch { case _: ArithmeticException => throw new NotHeld("a number is too large for its new type") }

  /** `value * factor / divisor`, which has to be a whole number. */
  private def scaled(value: Long, factor: Long, divisor: Long): Long = {
    val product = if (factor == 1) value else exactly(Math.multiplyExact(value, factor))
    if (divisor == 1) product
    else if (product % divisor != 0) throw new NotHeld("a timestamp is finer than its new type")
    else product / divisor
  }

  /** @param below exclusive limit of absolute values */
  private final class Numbers(
      from: FixedNumber,
      to: FixedNumber,
      factor: Long = 1,
      divisor: Long = 1,
      below: Long = Long.MaxValue
  ) extends ValueConverter {
    override protected def convert(source: Array[Byte], start: Int, end: Int, into: ByteSink): Unit = {
      val value = scaled(from.read(source, start), factor, divisor)
      if (below != Long.MaxValue && (value >= below || value <= -below))
        throw new NotHeld("a decimal has more digits than its type")
      to.write(value, into)
    }
  }

  private final class BigNumbers(from: Storage, to: Storage, factor: BigInteger, below: BigInteger)
      extends ValueConverter {
    override protected def convert(source: Array[Byte], start: Int, end: Int, into: ByteSink): Unit = {
      val value = from.readBig(source, start, end).multiply(factor)
      if (value.abs.compareTo(below) >= 0) throw new NotHeld("a decimal has more digits than its type")
      to.writeBig(value, into)
    }
  }

  private object IntsToDoubles extends ValueConverter {
    override protected def convert(source: Array[Byte], start: Int, end: Int, into: ByteSink): Unit =
      into.putLong(java.lang.Double.doubleToRawLongBits(LittleEndian.getInt(source, start).toDouble))
  }

  private object FloatsToDoubles extends ValueConverter {
    override protected def convert(source: Array[Byte], start: Int, end: Int, into: ByteSink): Unit = {
      val value = java.lang.Float.intBitsToFloat(LittleEndian.getInt(source, start))
      into.putLong(java.lang.Double.doubleToRawLongBits(value.toDouble))
    }
  }

  private final class FromOldInstants(micros: Long) extends ValueConverter {
    override protected def convert(source: Array[Byte], start: Int, end: Int, into: ByteSink): Unit = {
      val nanos = LittleEndian.getLong(source, start)
      val day = LittleEndian.getInt(source, start + 8) - JulianDayOfEpoch
      val inDay = scaled(nanos, factor = 1, NanosPerMicro)
      into.putLong(scaled(exactly(Math.addExact(Math.multiplyExact(day, MicrosPerDay), inDay)), 1, micros))
    }
  }

  private final class ToOldInstants(micros: Long) extends ValueConverter {
    override protected def convert(source: Array[Byte], start: Int, end: Int, into: ByteSink): Unit = {
      val value = scaled(LittleEndian.getLong(source, start), micros, divisor = 1)
      // Readers that count nanoseconds in 64 bits would read other times instead.
      if (Math.abs(value) > Long.MaxValue / NanosPerMicro)
        throw new NotHeld("a timestamp is beyond those that all readers of INT96 know")
      into.putLong(Math.floorMod(value, MicrosPerDay) * NanosPerMicro)
      into.putInt((Math.floorDiv(value, MicrosPerDay) + JulianDayOfEpoch).toInt)
    }
  }
}
