package io.deltaupkeep.plan.cluster

import scala.collection.mutable

import io.deltaupkeep.CountText
import io.deltaupkeep.plan.compact.{ClusterGroup, DataFile, NamedTwice, OptimizeSettings}
import io.deltaupkeep.stats.KeyRange

/**
 * Decides which files of one partition are put in order, and which of them together. Pure.
 *
 * Files that were put in order together are a Z-cube, as Delta calls it. Files in no Z-cube become one. A query for a value
 * looks into each Z-cube that may hold it, so those that overlap are merged, but only the smaller ones, once they are
 * together about as large as the next larger one: each time that rows are moved, they are about twice as many. So how
 * often a byte is rewritten grows with the logarithm of the table's size, not with the number of appends. This is how
 * log-structured merge trees keep their runs.
 *
 * A small Z-cube has smaller files, so that a query opens about the same share of its bytes as of all others'.
 *
 * @param cubeBytes a Z-cube of this size is complete: no others are merged with it
 * @param mostBytes of files that are put in order together
 */
final class ClusterPlanner(settings: OptimizeSettings, cubeBytes: Long, mostBytes: Long) {
  import ClusterPlanner._

  /**
   * @param cubeOf   the id of a file's Z-cube, if it has one of the same keys
   * @param rangesOf the ranges of values of files, for each key; called only where they matter
   */
  def groups(files: Seq[DataFile], cubeOf: DataFile => Option[String])(
      rangesOf: IndexedSeq[DataFile] => Seq[IndexedSeq[KeyRange]]
  ): Seq[ClusterGroup] = {
    val byCube =
      NamedTwice.of(files).others.sortBy(file => (file.modificationTime, file.path)).groupBy(cubeOf)
    val cubes = byCube.toSeq.collect { case (Some(id), some) => Cube(Some(id), some) }
      .filter(_.bytes < cubeBytes)
    val all = byCube.get(None).map(Cube(None, _)).toSeq ++ cubes.sortBy(cube => (cube.bytes, cube.id))
    // Without others to merge with, ranges say nothing.
    val isDone = all.forall(_.isClustered) && chainOf(all, Long.MaxValue, Long.MaxValue).isEmpty
    val sets = if (isDone) Nil else overlapping(all, rangesOf)
    sets.flatMap { set =>
      val chain = chainOf(set, most, mostFiles)
      val fresh = set.filterNot(cube => cube.isClustered || chain.contains(cube)).flatMap(_.files)
      val merged = Option.when(chain.nonEmpty)(mergedOf(chain, fileBytes(chain, set)))
      split(fresh).map(ClusterGroup(_, NotInOrder, fileBytes(set.filterNot(_.isClustered), set))) ++ merged
    }
  }

  /**
   * What is not in order, and the smallest Z-cubes, up to the last one that those before it together are about as large as.
   * None if they are too few.
   */
  private def chainOf(cubes: Seq[Cube], most: Long, mostFiles: Long): Seq[Cube] = {
    val bytes = cubes.scanLeft(0L)(_ + _.bytes)
    val files = cubes.scanLeft(0L)(_ + _.files.size)
    val last = cubes.indices.lastIndexWhere(i =>
      i > 0 && cubes(i).bytes <= bytes(i) * Slack && bytes(i + 1) <= most && files(i + 1) <= mostFiles
    )
    val chain = cubes.take(last + 1)
    if (chain.size >= settings.minOverlapDepth) chain else Nil
  }

  private val most = math.min(mostBytes, settings.maxBytes.getOrElse(Long.MaxValue))
  private val mostFiles = settings.maxFiles.getOrElse(Long.MaxValue)

  private def mergedOf(chain: Seq[Cube], fileBytes: Long): ClusterGroup = {
    val clustered = chain.filter(_.isClustered)
    val cubes = CountText.of(clustered.size, "Z-cube")
    val fresh = chain.filterNot(_.isClustered).flatMap(_.files).size
    val why =
      if (fresh == 0) s"$cubes overlap"
      else s"$cubes and ${CountText.of(fresh, "file")} $NotInOrder overlap"
    ClusterGroup(chain.flatMap(_.files), why, fileBytes)
  }

  /**
   * The size of new files for some of the Z-cubes that overlap: their share of all. Where a complete Z-cube is made, no more is
   * merged.
   */
  private def fileBytes(some: Seq[Cube], all: Seq[Cube]): Long = {
    def total(cubes: Seq[Cube]) = cubes.iterator.map(_.bytes).sum
    val share = math.min(1d, total(some).toDouble / math.max(1L, math.min(total(all), cubeBytes)))
    val target = settings.targetFileSize
    math.max(math.max(target / MostFilesForOne, math.min(target, LeastBytes)), (target * share).toLong)
  }

  /** Neighbours in groups that are not too large, unless they are single files. */
  private def split(files: Seq[DataFile]): Seq[Seq[DataFile]] = {
    val groups = mutable.ArrayBuffer.empty[Vector[DataFile]]
    var bytes = 0L
    files.foreach { file =>
      if (groups.isEmpty || bytes + file.sizeInBytes > most || groups.last.size >= mostFiles) {
        groups += Vector(file)
        bytes = file.sizeInBytes
      } else {
        groups(groups.size - 1) = groups.last :+ file
        bytes += file.sizeInBytes
      }
    }
    groups.toSeq
  }

  /** Z-cubes that overlap, directly or through others; each set in the given order. */
  private def overlapping(
      cubes: Seq[Cube],
      rangesOf: IndexedSeq[DataFile] => Seq[IndexedSeq[KeyRange]]
  ): Seq[Seq[Cube]] =
    if (cubes.size < 2) Seq(cubes)
    else {
      val keys = rangesOf(cubes.flatMap(_.files).toIndexedSeq)
      val ends = cubes.scanLeft(0)(_ + _.files.size)
      val boxes = cubes.indices.map(i => keys.map(_.slice(ends(i), ends(i + 1)).reduce(union)))
      def isSmall(i: Int) = cubes(i).bytes < settings.targetFileSize
      val sets = new Sets(cubes.size)
      for (i <- cubes.indices; k <- 0 until i)
        // Small ones are merged for the size of their files.
        if (isSmall(i) && isSmall(k) || boxes(i).lazyZip(boxes(k)).forall(meet)) sets.join(i, k)
      cubes.indices.groupBy(sets.of).values.toSeq.map(_.map(cubes))
    }
}

object ClusterPlanner {

  private val NotInOrder = "not in order yet"

  /** Files of as many rows differ in size. */
  private val Slack = 1.25

  /** How many files a small Z-cube may have for one of the target size. */
  private val MostFilesForOne = 8

  /** In smaller files, footers and headers would weigh more than values. */
  private val LeastBytes = 1L << 20

  private final case class Cube(id: Option[String], files: Seq[DataFile]) {
    val bytes: Long = files.iterator.map(_.sizeInBytes).sum
    def isClustered: Boolean = id.nonEmpty
  }

  private def union(one: KeyRange, other: KeyRange): KeyRange = (one, other) match {
    case (KeyRange.Unknown, _) | (_, KeyRange.Unknown) => KeyRange.Unknown
    case (KeyRange.NoValues, range) => range
    case (range, KeyRange.NoValues) => range
    case (KeyRange.Between(a, b), KeyRange.Between(c, d)) => KeyRange.Between(math.min(a, c), math.max(b, d))
  }

  /** Whether a value may be in both. */
  private def meet(one: KeyRange, other: KeyRange): Boolean = (one, other) match {
    case (KeyRange.Unknown, _) | (_, KeyRange.Unknown) => true
    case (KeyRange.Between(a, b), KeyRange.Between(c, d)) => a <= d && c <= b
    case _ => one == other
  }

  /** Disjoint sets of numbers from 0 on. */
  private final class Sets(size: Int) {
    private val parents = Array.range(0, size)

    def of(i: Int): Int = {
      var root = i
      while (parents(root) != root) {
        parents(root) = parents(parents(root))
        root = parents(root)
      }
      root
    }

    def join(i: Int, k: Int): Unit = parents(of(i)) = of(k)
  }
}
