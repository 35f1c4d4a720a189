package io.deltaupkeep.parquet.page

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType

/**
 * Lets the pages of a chunk share long bounds. The bounds of a repeated long value would take more than the
 * pages.
 */
private[parquet] final class SharedBounds(primitive: PrimitiveType) {
  import SharedBounds._

  private var known = Seq.empty[Binary]

  /** The same statistics; `count` is called with the bytes that no earlier page has. */
  def share(statistics: Statistics[_ <: Comparable[_]])(count: Int => Unit): Statistics[_ <: Comparable[_]] =
    (statistics.genericGetMin, statistics.genericGetMax) match {
      case (min: Binary, max: Binary) if min.length.toLong + max.length > ShortBytes =>
        val bounds = Seq(min, max).map(bound => known.find(_ == bound).getOrElse(bound))
        bounds.distinct.filterNot(bound => known.exists(_ eq bound)).foreach(bound => count(bound.length))
        known = bounds
        val shared: Statistics[_ <: Comparable[_]] = Statistics.createStats(primitive)
        (if (min == max) bounds.take(1) else bounds).foreach(shared.updateStats)
        shared.incrementNumNulls(statistics.getNumNulls)
        shared
      case _ => statistics
    }
}

private object SharedBounds {

  /** Bounds up to this length count as part of what a page takes besides its bytes. */
  private val ShortBytes = 256L
}
