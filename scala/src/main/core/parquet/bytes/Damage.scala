package io.deltaupkeep.parquet.bytes

import java.io.IOException
import java.nio.BufferUnderflowException

import org.apache.parquet.ParquetRuntimeException

/** How decoders of others fail on bytes that are damaged or violate the format. */
private[parquet] object Damage {

  /**
   * Decodes bytes that are already in memory, by a decoder of others: a failure is one of the bytes.
   *
   * @param what is decoded, for errors
   */
  def in[T](what: => String)(decode: => T): T =
    try decode
    catch {
      case e @ (_: IOException | _: ParquetRuntimeException | _: BufferUnderflowException |
          _: IndexOutOfBoundsException | _: IllegalArgumentException | _: NegativeArraySizeException |
          _: ArithmeticException | _: NullPointerException | _: UnsupportedOperationException) =>
        throw new MalformedPage(s"$what cannot be decoded: $e")
    }
}
