package io.deltaupkeep.parquet.merge

import io.deltaupkeep.parquet.bytes.{LittleEndian, Slice}
import io.deltaupkeep.parquet.chunk.{ChunkReader, ChunkScratch}
import io.deltaupkeep.parquet.encoding.{LevelBuffer, ValueShape}
import io.deltaupkeep.parquet.footer.ChunkFacts
import io.deltaupkeep.parquet.page.{BloomValues, LevelMap, PageData, PageLayout, PageStatistics, SharedBounds}

import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.column.statistics.Statistics

/**
 * Makes the pages of a chunk: collects levels and values, and turns them into an encoded and compressed page with
 * statistics. Only one page is under construction at a time; finished ones go to `chunk`.
 *
 * @param collectionLevel definition level of a non-null outermost list or map; 0 if there is none
 */
private[merge] final class PageEncoder(
    column: ColumnDescriptor,
    layout: PageLayout,
    scratch: ChunkScratch,
    bloom: Option[BloomValues],
    chunk: ChunkPages,
    collectionLevel: Int
) {
  private val maxRepetition = column.getMaxRepetitionLevel
  private val maxDefinition = column.getMaxDefinitionLevel
  private val statistics = PageStatistics(column.getPrimitiveType)
  private val bounds = new SharedBounds(column.getPrimitiveType)

  private val out = scratch.output
  private val repetition = out.repetition
  private val definition = out.definition
  private val body = out.body
  private var rows = 0
  private var nullCollections = 0L

  out.clear()

  /** The values of the page. Levels and values are appended separately. */
  val values: ValueEncoder =
    new ValueEncoder(ValueShape.of(column.getPrimitiveType), layout.dictionaryBytes, out, bloom)

  /** Facts about the finished pages. */
  def facts: ChunkFacts = ChunkFacts(nullCollections, statistics.instants)

  /** Number of values of the page as the format counts them: nulls included. */
  def levels: Int = definition.size

  def isFull: Boolean = rowsLeft <= 0 || bytesLeft <= 0

  /** Rows that still fit into the page. */
  def rowsLeft: Int = layout.pageRows - rows

  /** Bytes that still fit, counted as in parquet-java except for runs of levels. */
  def bytesLeft: Long = layout.pageBytes - values.plainBytes -
    repetition.packedBytes(maxRepetition) - definition.packedBytes(maxDefinition)

  /** Appends the levels of an input from `from` until `to`. */
  def appendLevels(input: PageData, map: LevelMap, from: Int, to: Int): Unit = {
    rows += input.repetition.occurrences(0, from, to)
    val leavesOut = map.maxRepetition < input.maxRepetition
    if (map.isIdentity && !leavesOut) {
      repetition.add(input.repetition, from, to)
      definition.add(input.definition, from, to)
    } else {
      var i = from
      while (i < to) {
        if (input.repetition(i) <= map.maxRepetition) {
          repetition.add(input.repetition(i), 1)
          definition.add(map.of(input.definition(i)), 1)
        }
        i += 1
      }
    }
  }

  /** Appends rows with a definition level of 0. */
  def appendNulls(count: Int): Unit = {
    repetition.add(0, count)
    definition.add(0, count)
    rows += count
  }

  /** Finishes the page, if it has begun. */
  def finishPage(): Unit = if (levels > 0) {
    val nulls = levels - values.size
    body.clear()
    putLevels(repetition, maxRepetition)
    putLevels(definition, maxDefinition)
    val encoding = values.encode(body, statistics)
    val compressed = chunk.compress(body.array, body.length)
    val size = compressed.length
    chunk.add(SplicedPage(levels, rows, body.length, Slice(compressed, 0), size, summary(nulls), encoding))
    for (level <- 0 until collectionLevel) nullCollections += definition.occurrences(level, 0, levels)
    repetition.clear()
    definition.clear()
    rows = 0
  }

  /** Adds an input's page as it is stored: PLAIN values, no lists. */
  def addStored(input: ChunkReader): Unit = {
    finishPage()
    val values = input.values
    statistics.add(values.array, values.start(0), values.start(input.nonNull))
    chunk.add(SplicedPage(
      input.levels,
      input.levels,
      input.uncompressedSize,
      input.storedBytes,
      input.storedSize,
      summary(input.levels - input.nonNull),
      Encoding.PLAIN
    ))
  }

  /** The statistics of a finished page. */
  private def summary(nulls: Int): Statistics[_ <: Comparable[_]] = {
    val result = bounds.share(statistics.result(nulls.toLong))(chunk.hold)
    statistics.clear()
    result
  }

  private def putLevels(levels: LevelBuffer, maxLevel: Int): Unit =
    if (maxLevel > 0) {
      val lengthAt = body.length
      body.putInt(0)
      levels.encode(maxLevel, body)
      LittleEndian.putInt(body.array, lengthAt, body.length - lengthAt - 4)
    }
}
