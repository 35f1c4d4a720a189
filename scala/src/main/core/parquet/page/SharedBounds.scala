package io.deltaupkeep.parquet.page

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType

/**
 * Lets the pages of a chunk share long bounds. The bounds of a repeated long value would outgrow the pages.
 */
private[parquet] final class SharedBounds(primitive: PrimitiveType) {
  import SharedBounds._

  private var known = Seq.empty[Binary]

  /** Returns the same statistics. Calls `count` with the size of each bound that is new. */
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

  /** Bounds up to this length count as part of a page's overhead. */
  private val ShortBytes = 256L
}
