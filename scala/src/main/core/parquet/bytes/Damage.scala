package io.deltaupkeep.parquet.bytes

import java.io.IOException
import java.nio.BufferUnderflowException

import org.apache.parquet.ParquetRuntimeException

/** How third-party decoders fail on bytes that are damaged or violate the format. */
private[parquet] object Damage {

  /**
   * Runs a third-party decoder on bytes that are already in memory: if it fails, the bytes are at fault.
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
