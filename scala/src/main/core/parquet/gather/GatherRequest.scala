package io.deltaupkeep.parquet.gather

import java.util.BitSet

import scala.jdk.CollectionConverters._

import io.deltaupkeep.ByteText
import io.deltaupkeep.parquet.cut.{HeldRows, KeyOrder, KeySample, RowOrder, RowRanges}
import io.deltaupkeep.parquet.file.Refusal
import io.deltaupkeep.parquet.footer.{FileSlice, FooterTotals, LeafTotals}

import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.schema.{GroupType, MessageType, Type}

/**
 * The order of rows in new files.
 *
 * @param keys    leaf columns outside lists, by the parts of their names in the files
 * @param outputs number of new files; there are fewer if there are fewer rows
 */
final case class GatherOrder(keys: Seq[Seq[String]], order: KeyOrder, outputs: Int) {

  /** What a schema has of the keys alone. */
  def keysIn(schema: MessageType): MessageType =
    new MessageType(schema.getName, GatherOrder.fields(schema, keys).asJava)
}

object GatherOrder {

  /** @param paths of columns below the group */
  private def fields(group: GroupType, paths: Seq[Seq[String]]): Seq[Type] =
    group.getFields.asScala.toSeq.flatMap { field =>
      val below = paths.filter(_.head == field.getName).map(_.tail)
      if (below.isEmpty) None
      else if (field.isPrimitive || below.exists(_.isEmpty)) Some(field)
      else Some(field.asGroupType.withNewFields(fields(field.asGroupType, below).asJava))
    }
}

/** A file of a bin, by its position, or a slice of it. */
final case class FilePart(file: Int, slice: FileSlice)

object FilePart {

  /**
   * Divides the files of a bin among tasks that put its rows in order together.
   *
   * @param sizes  of the files in bytes
   * @param ofTask most bytes of files that a task takes, unless a file has few row groups
   */
  def divided(sizes: IndexedSeq[Long], ofTask: Long): IndexedSeq[Seq[FilePart]] = {
    val most = math.max(1, math.min(ofTask, MostBytes))
    val parts = sizes.indices.flatMap { file =>
      val slices = math.max(1, math.ceil(sizes(file).toDouble / most).toInt)
      (0 until slices).map(i => FilePart(file, FileSlice(i, slices)) -> sizes(file) / slices)
    }
    var task = 0
    var taken = 0L
    val taskOf = parts.map { case (_, bytes) =>
      if (taken > 0 && taken + bytes > most) {
        task += 1
        taken = 0
      }
      taken += bytes
      task
    }
    parts.indices.groupBy(taskOf).toIndexedSeq.sortBy(_._1).map(_._2.map(parts(_)._1))
  }

  /** So that no array of what a task sends is too large. */
  private val MostBytes = 1L << 30
}

/**
 * How the files of a bin are divided among several tasks, and why.
 *
 * @param ofTask bytes of files that each of them takes
 * @param tries  how often it was divided because a task would take too much memory
 */
final case class Division(ofTask: Long, why: String, tries: Int = 0)

object Division {

  /**
   * None if one task takes all files.
   *
   * @param most bytes of files that a task takes. Several tasks need some of that for what they send each other.
   */
  def of(bytes: Long, most: Long): Option[Division] = Option.when(bytes > most) {
    Division(
      math.max(most / 2, bytes / MostTasks),
      s"${ByteText.of(bytes)} are more than the ${ByteText.of(most)} that one takes"
    )
  }

  /**
   * A finer one, if more tasks could take what was refused.
   *
   * @param bytes  of all files
   * @param before None if one task was to take them
   */
  def after(refusal: Refusal, bytes: Long, before: Option[Division]): Option[Division] = {
    val tries = before.fold(0)(_.tries)
    val ofTask = (before.fold(bytes / 2)(_.ofTask) / math.max(2, refusal.times)).toLong
    Option.when(refusal.times > 1 && tries < MostTries && ofTask > bytes / MostTasks)(
      Division(ofTask, refusal.reason, tries + 1)
    )
  }

  /** How rows are put in order, in words. */
  def told(division: Option[Division]): String =
    FileGatherer.Why + division.fold("")(found => s", by several tasks: ${found.why}")

  /** A row group that no task can take stays so. */
  private val MostTries = 3

  /** Each sends each of the others a piece. */
  private val MostTasks = 2048
}

/** How rows are divided into new files. */
sealed trait Arrangement {

  /** @param keys of all rows */
  private[gather] def of(keys: IndexedSeq[HeldRows], rows: Int, threads: Int): ArrangedRows
}

/**
 * Rows by their numbers in their new order.
 *
 * @param ends where each new file ends in it; it may be empty
 */
private[gather] final case class ArrangedRows(order: Array[Int], ends: IndexedSeq[Int])

private[gather] object ArrangedRows {

  /** Ends of so many files, with a row each at least. */
  def evenly(rows: Int, files: Int): IndexedSeq[Int] = {
    val parts = math.min(rows, files)
    (1 to parts).map(i => (rows.toLong * i / parts).toInt)
  }
}

/** All in order, in files of as many rows each. */
final case class SortedRows(by: KeyOrder, files: Int) extends Arrangement {
  private[gather] override def of(keys: IndexedSeq[HeldRows], rows: Int, threads: Int): ArrangedRows =
    ArrangedRows(
      if (rows == 0) Array.emptyIntArray else RowOrder.of(keys, rows, by, threads),
      ArrangedRows.evenly(rows, files)
    )
}

/** A file for each range, in which rows keep their order. */
final case class DividedRows(ranges: RowRanges, part: Int, parts: Int) extends Arrangement {
  private[gather] override def of(keys: IndexedSeq[HeldRows], rows: Int, threads: Int): ArrangedRows = {
    val ofRow = ranges.of(keys, rows, part, parts, threads)
    val ends = new Array[Int](ranges.count + 1)
    ofRow.foreach(range => ends(range + 1) += 1)
    for (range <- 1 to ranges.count) ends(range) += ends(range - 1)
    val (next, order) = (ends.clone, new Array[Int](rows))
    for (row <- 0 until rows) {
      val range = ofRow(row)
      order(next(range)) = row
      next(range) += 1
    }
    ArrangedRows(order, ends.toIndexedSeq.tail)
  }
}

/**
 * What is known of files whose key columns were read.
 *
 * @param inputs    the totals in their footers
 * @param rowGroups of all files
 */
final case class SampledFiles(keys: KeySample, inputs: FooterTotals, rowGroups: Int)

/**
 * A new file.
 *
 * @param index  of the file
 * @param footer as it was written
 * @param leaves totals of its columns by path
 */
final case class GatheredFile(
    index: Int,
    rows: Long,
    footer: ParquetMetadata,
    leaves: Map[Seq[String], LeafTotals],
    followed: FollowedRows
)

/**
 * What is known of the way of rows from inputs to a new file.
 *
 * @param sample      where some of its rows come from
 * @param marked      positions of those that the caller marked
 * @param fingerprint of their order. If the same inputs are put in order anew, and rows go elsewhere, it is another one
 */
final case class FollowedRows(sample: Seq[SampledRow], marked: BitSet, fingerprint: Long)

/** A new file that is not written. */
final case class FollowedFile(rows: Long, followed: FollowedRows)

/**
 * Where a row came from and went to.
 *
 * @param input position of the input
 * @param row   its position in the input
 * @param at    its position in the new file
 */
final case class SampledRow(input: Int, row: Long, at: Long)
