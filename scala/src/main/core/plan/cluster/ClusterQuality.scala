package io.deltaupkeep.plan.cluster

import io.deltaupkeep.FileTotal
import io.deltaupkeep.plan.compact.Partition
import io.deltaupkeep.stats.{KeyBounds, KeyRange}

/** How a file is clustered, by its tags. */
sealed trait ClusteredBy

object ClusteredBy {
  case object TheseKeys extends ClusteredBy
  case object OtherKeys extends ClusteredBy
  case object Nothing extends ClusteredBy
}

/** A file of a clustered table. */
final case class ClusteredFile(partition: Partition, bytes: Long, by: ClusteredBy)

/** The values of a key in a file. */
private[cluster] final case class PlacedRange(partition: Partition, bytes: Long, range: KeyRange)

/**
 * How well a key separates the files of a table. Files of different partitions are not compared.
 *
 * @param name    of the column
 * @param depth   how many files a query for one value of it opens at most, on average over the files that have values
 * @param overlap how many other files have a range of values that meets the file's own, on average
 * @param opened  the share of files that such a query opens at most, on average, from 0 to 1
 * @param profile files that may have a value, for some values in their order
 * @param inFile  the share of row groups of a file in order that a query for one of its values opens at most, on average;
 *                None if no such file has several
 */
final case class KeyQuality(
    name: String,
    depth: Double,
    overlap: Double,
    opened: Double,
    profile: Seq[(String, FileTotal)],
    inFile: Option[Double] = None
)

/**
 * A row group of some file.
 *
 * @param file  its number
 * @param stats as the log has them of files
 */
final case class SampledRowGroup(file: Int, bytes: Long, stats: String)

/**
 * How well a table is clustered.
 *
 * @param keys        in their order
 * @param byOthers    files that are clustered by other keys
 * @param unclustered files that are not clustered
 * @param clause      of OPTIMIZE, if the table does not say how it is clustered
 */
final case class ClusterQuality(
    keys: Seq[KeyQuality],
    all: FileTotal,
    byOthers: FileTotal,
    unclustered: FileTotal,
    clause: Option[String]
) {

  /** The share of files that a query for one value of one of the keys opens at most, on average, from 0 to 1. */
  def opened: Double = keys.map(_.opened).sum / keys.size
}

object ClusterQuality {

  /** Values of a key that a profile has at most: as many bars as a figure of the health report. */
  private[cluster] val ProfileValues = 24

  /**
   * Judges by the statistics of files. Averages are by bytes: a small file has few of the values that users look for.
   * Where in its range a file has most of its values is not known, so the value that most files may have counts.
   *
   * @param files at least one
   * @param keys  at least one, with ranges of the same files
   */
  def of(
      files: IndexedSeq[ClusteredFile],
      keys: Seq[(String, KeyBounds)],
      clause: Option[String] = None
  ): ClusterQuality = {
    def total(isIn: ClusteredFile => Boolean) = FileTotal.of(files.iterator.filter(isIn).map(_.bytes))
    ClusterQuality(
      keys.map { case (name, bounds) => ofKey(name, bounds, files) },
      total(_ => true),
      total(_.by == ClusteredBy.OtherKeys),
      total(_.by == ClusteredBy.Nothing),
      clause
    )
  }

  /**
   * The share of row groups of a file that a query for one of its values opens at most, on average, from 0 to 1. None if no file
   * has several.
   *
   * @param ranges of a key
   */
  def openedInFile(rowGroups: Seq[SampledRowGroup], ranges: Seq[KeyRange]): Option[Double] = {
    val placed = rowGroups.zip(ranges).map { case (group, range) =>
      PlacedRange(Partition(Seq(Some(group.file.toString)))(""), group.bytes, range)
    }
    Option.when(rowGroups.groupBy(_.file).values.exists(_.size > 1))(opened(placed))
  }

  /** The share of files that a query for one value opens at most, on average, from 0 to 1. */
  private[cluster] def opened(files: Seq[PlacedRange]): Double = new Costs(files).mean(_.opened)

  private def ofKey(name: String, bounds: KeyBounds, files: IndexedSeq[ClusteredFile]): KeyQuality = {
    val costs = new Costs(files.zip(bounds.ranges).map { case (file, range) =>
      PlacedRange(file.partition, file.bytes, range)
    })
    val ranks = bounds.values.size
    val shown = (0 until math.min(ranks, ProfileValues)).map { i =>
      if (ranks <= ProfileValues) i else (i.toLong * (ranks - 1) / (ProfileValues - 1)).toInt
    }
    val profile = shown.map { rank =>
      val found = costs.indexes.map(_.at(rank))
      bounds.values(rank) -> FileTotal(found.map(_.files).sum, found.map(_.bytes).sum)
    }
    KeyQuality(name, costs.mean(_.depth), costs.mean(_.overlap), costs.mean(_.opened), profile)
  }

  /** What queries for the values of each file cost. */
  private final class Costs(files: Seq[PlacedRange]) {
    private val partitions = files.groupBy(_.partition).values.toSeq

    val indexes: Seq[RangeIndex] =
      partitions.map(some => new RangeIndex(some.map(file => file.range -> file.bytes).toIndexedSeq))

    private val costs = partitions.zip(indexes).flatMap { case (some, index) => some.map(costOf(_, index)) }
    private val weight = costs.map(_.weight).sum

    /** By bytes. */
    def mean(value: Cost => Double): Double =
      if (weight == 0) 0d else costs.iterator.map(cost => value(cost) * cost.weight).sum / weight
  }

  private final case class Cost(weight: Double, depth: Double, overlap: Double, opened: Double)

  private def costOf(file: PlacedRange, index: RangeIndex): Cost = file.range match {
    case KeyRange.NoValues => Cost(0, 0, 0, 0)
    case KeyRange.Unknown => Cost(file.bytes.toDouble, index.size.toDouble, (index.size - 1).toDouble, 1)
    case KeyRange.Between(low, high) =>
      val depth = index.deepest(low, high).toDouble
      Cost(file.bytes.toDouble, depth, (index.meeting(low, high) - 1).toDouble, depth / index.size)
  }
}
