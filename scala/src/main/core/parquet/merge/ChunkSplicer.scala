package io.deltaupkeep.parquet.merge

import io.deltaupkeep.parquet.chunk.{ChunkReader, ChunkScratch, ColumnSink, RowPages}
import io.deltaupkeep.parquet.page.{
  BloomValues,
  ColumnBuffer,
  HeldPages,
  LevelMap,
  PageData,
  PageLayout,
  PageSlice
}

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * Makes one column chunk out of many. Pages are cut anew or kept as they are stored, and no value becomes an object.
 * Ids of an input's dictionary are mapped to the output's, so only distinct values are looked at.
 *
 * @param held            counts the bytes of all pages of the row group
 * @param collectionLevel definition level of a non-null outermost list or map; 0 if there is none
 */
private[parquet] final class ChunkSplicer(
    override val column: ColumnDescriptor,
    layout: PageLayout,
    compression: CompressionCodecName,
    scratch: ChunkScratch,
    bloom: Option[BloomValues],
    held: HeldPages,
    collectionLevel: Int = 0
) extends ColumnSink {
  private val maxDefinition = column.getMaxDefinitionLevel
  private val chunk = new ChunkPages(compression, scratch.codec, held)
  private val page = new PageEncoder(column, layout, scratch, bloom, chunk, collectionLevel)
  private val slice = new PageSlice

  override def append(input: RowPages, levels: LevelMap): Unit = {
    val mapping = input.dictionary.filter(_ => page.values.usesDictionary).map(new EntryMapping(_))
    if (input.isWhole) mapping.foreach(page.values.mapAll)
    while (input.next()) {
      if (!input.isWhole) mapping.foreach(page.values.map(input.page, _))
      appendPage(input.page, levels, mapping)
    }
  }

  private def appendPage(input: PageData, levels: LevelMap, mapping: Option[EntryMapping]): Unit =
    input match {
      case stored: ChunkReader if isKept(stored, levels) => page.addStored(stored)
      case _ => eachSlice(input, levels)(appendValues(input, mapping, _))
    }

  /** Appends values that were never in a file. */
  def append(input: ColumnBuffer): Unit =
    if (input.levels > 0)
      eachSlice(input.complete(), LevelMap.identity(column))(appendValues(input, None, _))

  override def appendShape(input: RowPages, levels: LevelMap): Unit =
    while (input.next()) eachSlice(input.page, levels)(_ => ())

  override def appendNulls(rows: Long): Unit = {
    var left = rows
    while (left > 0) {
      if (page.isFull) page.finishPage()
      val taken = math.min(left, page.rowsLeft.toLong).toInt
      page.appendNulls(taken)
      left -= taken
    }
  }

  def finish(): SplicedChunk = {
    page.finishPage()
    val dictionary = Option.when(chunk.hasIds)(page.values.dictionary)
    for (filter <- bloom; entries <- dictionary) filter.addAll(entries)
    SplicedChunk(
      column,
      compression,
      dictionary.map(chunk.dictionaryPage),
      chunk.inOrder,
      bloom.map(_.result()),
      page.facts
    )
  }

  /** Whether a page can be kept as it is stored. Keeping small ones would make many small pages. */
  private def isKept(input: ChunkReader, levels: LevelMap): Boolean =
    !page.values.usesDictionary && bloom.isEmpty && input.isStoredAs(compression) &&
      levels.isIdentity && input.maxDefinition == maxDefinition && input.maxRepetition == 0 &&
      input.levels <= layout.pageRows && input.uncompressedSize <= 2 * layout.pageBytes &&
      (input.levels >= layout.pageRows / 2 || input.uncompressedSize >= layout.pageBytes / 2)

  /** Cuts an input's page into slices, appends their levels, and passes on where their values start. */
  private def eachSlice(input: PageData, levels: LevelMap)(appendFrom: Int => Unit): Unit = {
    var level = 0
    var value = 0
    while (level < input.levels) {
      findSlice(input, level, value)
      page.appendLevels(input, levels, level, slice.levelEnd)
      appendFrom(value)
      level = slice.levelEnd
      value = slice.valueEnd
    }
  }

  /** Finds how much of an input's page fits into the page under construction; begins a new one if it is full. */
  private def findSlice(input: PageData, level: Int, value: Int): Unit = {
    if (page.isFull && input.repetition(level) == 0) page.finishPage()
    slice.find(input, level, value, page.rowsLeft, page.bytesLeft)
    // A row with a list may be long and span pages.
    if (!input.repetition.isAll(0))
      scratch.requireRoom(
        page.values.plainBytes + slice.plainBytes,
        page.levels + slice.levelEnd - level
      )
  }

  /**
   * Appends the values of the slice, from `from` on.
   *
   * @param mapping the output's ids for the entries of the input's dictionary
   */
  private def appendValues(input: PageData, mapping: Option[EntryMapping], from: Int): Unit = {
    val values = page.values
    val end = slice.valueEnd
    if (end > from) mapping match {
      case _ if !input.isDictionaryEncoded => values.append(input.values, from, end)
      case Some(entries) if values.usesDictionary =>
        values.appendMapped(input.ids, entries, from, end, slice.plainBytes)
      case _ => values.appendEntries(input.ids, input.plainValues, from, end)
    }
  }
}
