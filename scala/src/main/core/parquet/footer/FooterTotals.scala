package io.deltaupkeep.parquet.footer

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.schema.MessageType

/**
 * The totals of a leaf column over row groups (Parquet format, 'ColumnMetaData').
 *
 * @param rows   of the row groups that have the column
 * @param values nulls included; each element of a list counts
 * @param nulls  none if a footer has no null count
 * @param bounds none if a footer has none, or if [[LeafBounds]] does not know their type
 * @param facts  none if chunks were copied
 */
final case class LeafTotals(
    rows: Long,
    values: Long,
    nulls: Option[Long],
    bounds: Option[LeafBounds],
    facts: Option[ChunkFacts] = None
) {

  /** The totals over the rows of both. */
  def and(other: LeafTotals): LeafTotals = LeafTotals(
    rows + other.rows,
    values + other.values,
    nulls.flatMap(here => other.nulls.map(here + _)),
    if (isNull) other.bounds
    else if (other.isNull) bounds
    else bounds.flatMap(here => other.bounds.flatMap(here.and)),
    facts.flatMap(here => other.facts.map(here + _))
  )

  private def isNull: Boolean = nulls.contains(values)
}

/**
 * The totals over the rows of several files, from their footers.
 *
 * @param dropped rows that a selection leaves out; `rows` and the leaves include them
 * @param leaves      by their paths, as [[FormatPaths]] names them
 * @param byParquetMr whether parquet-java wrote all files: writers count nulls within structs and lists
 *                    differently
 */
final case class FooterTotals(
    rows: Long,
    dropped: Long,
    leaves: Map[Seq[String], LeafTotals],
    byParquetMr: Boolean
) {

  /** The totals over the rows of both. */
  def and(other: FooterTotals): FooterTotals = FooterTotals(
    rows + other.rows,
    dropped + other.dropped,
    (leaves.toSeq ++ other.leaves).groupMapReduce(_._1)(_._2)(_ and _),
    byParquetMr && other.byParquetMr
  )
}

/** The footers of a splice. */
final case class SplicedTotals(inputs: FooterTotals, output: FooterTotals) {

  /** Of both. */
  def and(other: SplicedTotals): SplicedTotals =
    SplicedTotals(inputs.and(other.inputs), output.and(other.output))
}

object FooterTotals {

  /**
   * The totals in the footers that a writer returned, of files with the same schema; at least one.
   *
   * @param facts by the paths of the files
   */
  private[parquet] def written(
      footers: Seq[ParquetMetadata],
      facts: Seq[String] => Option[ChunkFacts]
  ): FooterTotals = {
    val blocks = footers.flatMap(_.getBlocks.asScala)
    val schema = footers.head.getFileMetaData.getSchema
    val paths = schema.getPaths.asScala.map(path => path.toSeq: Seq[String])
    val formatPaths: Map[Seq[String], Seq[String]] = paths.zip(FormatPaths.of(schema)).toMap
    val chunks = blocks.flatMap(block => block.getColumns.asScala.map(block.getRowCount -> _))
    val leaves = chunks.groupBy[Seq[String]](_._2.getPath.toArray.toSeq).map { case (path, found) =>
      val statistics = found.map(_._2.getStatistics)
      val nulls = Option.when(statistics.forall(_.isNumNullsSet))(statistics.map(_.getNumNulls).sum)
      val primitive = found.head._2.getPrimitiveType
      val bounds =
        LeafBounds.of(primitive, found.map { case (_, chunk) => chunk.getStatistics -> chunk.getValueCount })
      formatPaths(path) ->
        LeafTotals(found.map(_._1).sum, found.map(_._2.getValueCount).sum, nulls, bounds, facts(path))
    }
    FooterTotals(blocks.map(_.getRowCount).sum, 0, leaves, byParquetMr = true)
  }
}

/**
 * Adds up the footers of a bin's inputs. Most inputs share a schema, so paths are looked up once per schema.
 */
private[parquet] final class FooterCount {

  private final class Sums(leaves: Int) {
    var rows = 0L
    val values = new Array[Long](leaves)
    val nulls = new Array[Long](leaves)
    val isUnknown = new Array[Boolean](leaves)
  }

  private val sums = mutable.Map.empty[Seq[Seq[String]], Sums]
  private var lastSchema = Option.empty[MessageType]
  private var last: Sums = new Sums(0)
  private var byParquetMr = true
  private var dropped = 0L

  def add(file: OpenFile): Unit = {
    if (!lastSchema.exists(_ eq file.schema)) {
      lastSchema = Some(file.schema)
      val paths = FormatPaths.of(file.schema)
      last = sums.getOrElseUpdate(paths, new Sums(paths.size))
    }
    byParquetMr &&= file.writtenBy.countsNullParents
    file.storedRowGroups.foreach { group =>
      last.rows += group.storedRows
      dropped += group.storedRows - group.rows
      var i = 0
      while (i < last.values.length) {
        val chunk = group.chunk(i)
        last.values(i) += chunk.values
        last.nulls(i) += chunk.nulls
        last.isUnknown(i) ||= chunk.nulls < 0
        i += 1
      }
    }
  }

  def result: FooterTotals = {
    val leaves = for {
      (paths, of) <- sums.toSeq
      (path, i) <- paths.zipWithIndex
    } yield path -> LeafTotals(of.rows, of.values(i), Option.unless(of.isUnknown(i))(of.nulls(i)), None)
    FooterTotals(
      sums.values.map(_.rows).sum,
      dropped,
      leaves.groupMapReduce(_._1)(_._2)(_ and _),
      byParquetMr
    )
  }
}
