package io.deltaupkeep

/** Sizes in readable units. The Python package has the same rule; tests/sizes.csv checks both. */
object ByteText {
  private val units = Seq("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")

  /**
   * 1,536 bytes are 1.5 KiB, and 900 are 900 B. The unit is the smallest in which the rounded number is below 1024:
   * 1,048,575 bytes are 1.0 MiB and not 1024.0 KiB.
   */
  def of(bytes: Long): String = {
    // Long.MinValue has no absolute value as a Long.
    val size = BigInt(bytes).abs
    val power = units.indices.find(tenths(size, _) < 10240).getOrElse(units.size - 1)
    val sign = if (bytes < 0) "-" else ""
    if (power == 0) s"$bytes B"
    else s"$sign${tenths(size, power) / 10}.${tenths(size, power) % 10} ${units(power)}"
  }

  /** The size in tenths of a unit, rounded half up: 1,280 bytes are 13 tenths of a KiB. */
  private def tenths(size: BigInt, power: Int): BigInt = {
    val unit = BigInt(1) << (10 * power)
    (size * 10 + unit / 2) / unit
  }
}
