package io.deltaupkeep.plan.cluster

import java.util.Arrays

import io.deltaupkeep.parquet.cut.{Curve, KeyOrder, Lexicographic}
import io.deltaupkeep.plan.compact.Partition
import io.deltaupkeep.stats.KeyRange

/**
 * Files that are put in order together.
 *
 * @param files   by their positions
 * @param outputs number of new files
 */
final case class OrderedBin(files: Seq[Int], outputs: Long)

/**
 * Estimates how well a table is clustered after a plan, from the ranges of values that its files have before. The values of a
 * file count as spread evenly over its range. Of n files along a curve by k keys a query for one value of a key opens about
 * n^(1 - 1/k); of n sorted files by the first key one, and by the other keys all. Pure.
 *
 * @param files their partitions and sizes in bytes
 * @param keys  their number
 */
final class ClusterForecast(files: IndexedSeq[(Partition, Long)], order: KeyOrder, keys: Int) {
  import ClusterForecast._

  /**
   * The share of files that a query for one value opens at most, on average, from 0 to 1: before, and after the bins are
   * rewritten.
   *
   * @param key    its number, from 0 on
   * @param ranges of the files
   */
  def opened(key: Int, ranges: IndexedSeq[KeyRange], bins: Seq[OrderedBin]): (Double, Double) = {
    val scale =
      MostRanks / (1 + ranges.collect { case KeyRange.Between(_, high) => high }.maxOption.getOrElse(0))
    val placed = files.zip(ranges).map { case ((partition, bytes), range) =>
      // New files may end between two bounds.
      val finer = range match {
        case KeyRange.Between(low, high) => KeyRange.Between(low * scale, high * scale)
        case other => other
      }
      PlacedRange(partition, bytes, finer)
    }
    val rewritten = bins.iterator.flatMap(_.files).toSet
    val kept = placed.indices.filterNot(rewritten).map(placed)
    val made = bins.flatMap(bin => rangesOf(bin.files.map(placed), key, bin.outputs))
    (ClusterQuality.opened(placed), ClusterQuality.opened(kept ++ made))
  }

  /** Those of new files, whose number is bounded: more of them tell nothing else about a share. */
  private def rangesOf(inputs: Seq[PlacedRange], key: Int, outputs: Long): Seq[PlacedRange] = {
    val count = math.max(1, math.min(outputs, MostOutputs)).toInt
    val slices = order match {
      case _: Curve => math.max(1, math.round(math.pow(count.toDouble, 1d / keys)).toInt)
      case _: Lexicographic => if (key == 0) count else 1
    }
    val values = valuesOf(inputs, PointsOfSlice * slices)
    val bytes = inputs.map(_.bytes).sum / count
    (0 until count).map { file =>
      val slice = file % slices
      def end(slice: Int) = values((slice.toLong * (values.length - 1) / slices).toInt)
      val range =
        if (values.isEmpty) inputs.map(_.range).find(_ == KeyRange.Unknown).getOrElse(KeyRange.NoValues)
        else {
          val low = end(slice)
          KeyRange.Between(low, math.max(low, end(slice + 1) - (if (slice + 1 < slices) 1 else 0)))
        }
      PlacedRange(inputs.head.partition, bytes, range)
    }
  }

  /** Some values of files in their order, as many of each as it has bytes. */
  private def valuesOf(inputs: Seq[PlacedRange], most: Int): Array[Int] = {
    val known = inputs.collect { case PlacedRange(_, bytes, between: KeyRange.Between) => bytes -> between }
    val all = math.max(1, known.map(_._1).sum).toDouble
    val values = known.iterator.flatMap { case (bytes, KeyRange.Between(low, high)) =>
      val points = math.max(2, (bytes / all * most).toInt)
      Iterator.tabulate(points)(i => (low + (high - low).toLong * i / (points - 1)).toInt)
    }.toArray
    Arrays.sort(values)
    values
  }
}

object ClusterForecast {
  private val MostRanks = 1 << 30
  private val MostOutputs = 1L << 12
  private val PointsOfSlice = 16
}
