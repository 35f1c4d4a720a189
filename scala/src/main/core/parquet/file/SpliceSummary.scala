package io.deltaupkeep.parquet.file

import scala.collection.mutable

import io.deltaupkeep.parquet.footer.{
  ChunkFacts,
  FooterCount,
  FooterTotals,
  OpenFile,
  RowGroup,
  SplicedTotals
}
import io.deltaupkeep.parquet.plan.{ChunkTier, PlannedRowGroup}

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.hadoop.metadata.ParquetMetadata

/** Adds up what a splice does, or would do, for its outcome. */
private[parquet] final class SpliceSummary {

  private val inputs = new FooterCount
  private val tallies = mutable.Map.empty[ChunkTier, TierTally]
  private var groupsAfter = 0
  private var groupsBefore = 0
  private var rows = 0L
  private val kinds = mutable.LinkedHashMap.empty[Any, Int]
  private val ordinals = mutable.Map.empty[String, Int]
  private val placed = mutable.ArrayBuffer.empty[PlacedRows]
  private val facts = mutable.Map.empty[Seq[String], Option[ChunkFacts]]
  private var reason = Option.empty[(ChunkTier, String)]

  def addInput(file: OpenFile): Unit = {
    inputs.add(file)
    groupsBefore += file.storedRowGroups.size
    kinds.getOrElseUpdate(file.kind, ordinals.size)
    ordinals(file.name) = ordinals.size
  }

  /**
   * Counts a row group of the output.
   *
   * @param why its most expensive tier and the reason, if it is not copied
   */
  def addRowGroup(group: PlannedRowGroup, why: Option[(ChunkTier, String)]): Unit = {
    rows += group.rows
    group.parts.foreach(place)
    groupsAfter += 1
    reason = strongest(reason, why)
  }

  /** Counts a row group of rows in another order. */
  def addGathered(rows: Long, why: String): Unit = {
    this.rows += rows
    groupsAfter += 1
    reason = Some(ChunkTier.Gather -> why)
  }

  private def place(part: RowGroup): Unit = {
    val next = PlacedRows(ordinals(part.file.name), part.firstRow, part.storedRows, part.rows)
    placed.lastOption.flatMap(_.joined(next)) match {
      case Some(both) => placed(placed.size - 1) = both
      case None => placed += next
    }
  }

  /** Adds what is known about a chunk of the output; None if it was copied. */
  def addFacts(column: ColumnDescriptor, found: Option[ChunkFacts]): Unit = {
    val path = column.getPath.toSeq
    facts(path) = facts.get(path).fold(found)(_.flatMap(before => found.map(before + _)))
  }

  def addWork(tier: ChunkTier, work: TierTally): Unit =
    tallies(tier) = tallies.getOrElse(tier, TierTally(0, 0)) + work

  /**
   * The outcome.
   *
   * @param footers of the outputs; none in a preview, or if there are no rows
   * @param refused inputs that were not added
   */
  def outcome(footers: Seq[ParquetMetadata], refused: Map[Int, Refusal]): SpliceOutcome = {
    def whyCopied =
      if (groupsAfter == 0) "there are no rows to write" else "row groups are large enough to be copied"
    val (tier, why) = reason.getOrElse(ChunkTier.Copy -> whyCopied)
    val ofAll = Option.when(footers.nonEmpty)(SplicedTotals(inputs.result, totals(footers)))
    SpliceOutcome.Done(
      rows,
      placed.toVector,
      groupsBefore,
      groupsAfter,
      tier,
      why,
      tallies.toMap,
      ofAll,
      refused,
      kinds.values.toVector
    )
  }

  /** The totals of the inputs, from their footers. */
  def inputTotals: FooterTotals = inputs.result

  /** Row groups of the inputs. */
  def rowGroupsBefore: Int = groupsBefore

  /** The totals of outputs, with the facts about their chunks. */
  def totals(footers: Seq[ParquetMetadata]): FooterTotals =
    FooterTotals.written(footers, facts.get(_).flatten)

  private def strongest(
      a: Option[(ChunkTier, String)],
      b: Option[(ChunkTier, String)]
  ): Option[(ChunkTier, String)] =
    if (b.forall { case (tier, _) => a.exists(_._1.rank >= tier.rank) }) a else b
}
