package io.deltaupkeep

import java.util.Locale

/** Sizes for people. */
object ByteText {
  private val units = Seq("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")

  /** 1,536 bytes are 1.5 KiB, and 900 are 900 B. */
  def of(bytes: Long): String = {
    val power = if (bytes <= 0) 0 else (63 - java.lang.Long.numberOfLeadingZeros(bytes)) / 10
    if (power == 0) s"$bytes B"
    else "%.1f %s".formatLocal(Locale.ROOT, bytes.toDouble / (1L << (10 * power)), units(power))
  }
}
