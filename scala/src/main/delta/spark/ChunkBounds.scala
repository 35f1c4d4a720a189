package org.apache.spark.sql.delta.upkeep.spark

import org.apache.parquet.column.statistics._
import org.apache.parquet.io.api.Binary

/**
 * The bounds of a column chunk, and of some of its pages, except those with nulls only.
 *
 * @param ofPages None if the chunk has no page index
 */
private[upkeep] final case class ChunkBounds(
    ofChunk: Option[Statistics[_]],
    ofPages: Option[Seq[Statistics[_]]]
) {
  def allow(value: Any): Boolean =
    ofChunk.forall(ChunkBounds.allows(_, value)) && ofPages.forall(_.exists(ChunkBounds.allows(_, value)))
}

private[upkeep] object ChunkBounds {

  private def allows(bounds: Statistics[_], value: Any): Boolean =
    !bounds.hasNonNullValue || isNaN(value) || ((bounds, value) match {
      case (of: IntStatistics, x: Int) => within[Integer](of, x)
      case (of: LongStatistics, x: Long) => within[java.lang.Long](of, x)
      case (of: FloatStatistics, x: Float) => within[java.lang.Float](of, x)
      case (of: DoubleStatistics, x: Double) => within[java.lang.Double](of, x)
      case (of: BooleanStatistics, x: Boolean) => within[java.lang.Boolean](of, x)
      case (of: BinaryStatistics, x: Binary) => within[Binary](of, x)
      case _ => false
    })

  private def within[T <: Comparable[T]](bounds: Statistics[T], value: T): Boolean =
    bounds.compareMinToValue(value) <= 0 && bounds.compareMaxToValue(value) >= 0

  private def isNaN(value: Any): Boolean = value match {
    case x: Float => x.isNaN
    case x: Double => x.isNaN
    case _ => false
  }
}
