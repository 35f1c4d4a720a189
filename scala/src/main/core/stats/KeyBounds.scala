package io.deltaupkeep.stats

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.types.DataType

/** The values that a file has in a column. */
sealed trait KeyRange

object KeyRange {

  /** From one value to another one, both by their rank among the bounds of all files. */
  final case class Between(low: Int, high: Int) extends KeyRange

  /** Only nulls, or no rows: no query for a value reads the file. */
  case object NoValues extends KeyRange

  /** Every query reads the file. */
  case object Unknown extends KeyRange
}

/**
 * What the statistics of some files say about one column.
 *
 * @param ranges one for each file
 * @param values the bounds of all files as text, by rank
 */
final case class KeyBounds(ranges: IndexedSeq[KeyRange], values: IndexedSeq[String])

object KeyBounds {
  import MergedStats.{Max, Min, NullCount, NumRecords, at, mapper}

  /**
   * Reads the statistics of files (protocol, 'Per-file Statistics'), which may be null.
   *
   * @param columns by the parts of their physical names, with their types
   * @return one for each column
   */
  def of(columns: Seq[(Seq[String], DataType)], stats: Seq[String]): Seq[KeyBounds] = {
    val orders = columns.map { case (path, dataType) => path -> ValueOrder.ofBounds(dataType) }
    // A tree of statistics is many times as large as the bounds of a few columns.
    val files = stats.iterator.map { text =>
      val tree = Option(text).filter(_.nonEmpty).flatMap(t => Try(mapper.readTree(t)).toOption)
      orders.map { case (path, order) => tree.fold[Said](Said.Nothing)(Said.of(_, path, order)) }
    }.toIndexedSeq
    columns.indices.map(i => ranked(files.map(_(i))))
  }

  private def ranked(files: IndexedSeq[Said]): KeyBounds = {
    val bounds = files.collect { case Said.Bounds(low, high) => Seq(low, high) }.flatten.sortWith(_ isBelow _)
    val ranks = bounds.indices.scanLeft(0) { (rank, i) =>
      if (i > 0 && bounds(i - 1).isBelow(bounds(i))) rank + 1 else rank
    }.drop(1)
    val rankOf = new java.util.IdentityHashMap[Bound, Int]
    bounds.zip(ranks).foreach { case (bound, rank) => rankOf.put(bound, rank) }
    KeyBounds(
      files.map {
        case Said.Bounds(low, high) => KeyRange.Between(rankOf.get(low), rankOf.get(high))
        case Said.NoValues => KeyRange.NoValues
        case Said.Nothing => KeyRange.Unknown
      },
      bounds.indices.filter(i => i == 0 || ranks(i - 1) < ranks(i)).map(bounds(_).node.asText)
    )
  }

  private sealed trait Said

  private object Said {
    final case class Bounds(low: Bound, high: Bound) extends Said
    case object NoValues extends Said
    case object Nothing extends Said

    def of(tree: JsonNode, path: Seq[String], order: Option[ValueOrder[_]]): Said = {
      def count(path: Seq[String]) = at(tree, path).filter(_.isIntegralNumber).map(_.longValue)
      val (rows, nulls) = (count(Seq(NumRecords)), count(NullCount +: path))
      def bound(kind: String) = for (o <- order; node <- at(tree, kind +: path); b <- o.read(node)) yield b
      if (rows.exists(n => n == 0 || nulls.exists(_ >= n))) NoValues
      else
        (bound(Min), bound(Max)) match {
          case (Some(low), Some(high)) if !high.isBelow(low) => Bounds(low, high)
          case _ => Nothing
        }
    }
  }
}
