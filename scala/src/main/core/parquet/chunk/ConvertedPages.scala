package io.deltaupkeep.parquet.chunk

import io.deltaupkeep.parquet.bytes.ByteSink
import io.deltaupkeep.parquet.encoding.{LevelBuffer, ValueConverter, ValueShape, Values}
import io.deltaupkeep.parquet.page.PageData

import org.apache.parquet.column.ColumnDescriptor

/**
 * The pages of a column, with the values converted to another type. Dictionary entries are converted once, as are the
 * values of pages without a dictionary; levels and ids stay those of the file.
 *
 * @param column  with the levels of the file, and the type of the output
 * @param scratch limits the memory of a page
 */
private[parquet] final class ConvertedPages(
    column: ColumnDescriptor,
    stored: RowPages,
    converter: ValueConverter,
    scratch: ChunkScratch
) extends RowPages {
  import ConvertedPages._

  private val shape = ValueShape.of(column.getPrimitiveType)
  private val plain = new ByteSink()
  private val converted = new ConvertedPage(column)

  override val dictionary: Option[Values] = stored.dictionary.map { entries =>
    val sink = new ByteSink()
    convert(entries, entries.size, sink, levels = 0)
    new Values().set(shape, sink.array, 0, sink.length, entries.size)
  }

  override def page: PageData = converted
  override def firstRow: Long = stored.firstRow
  override def rows: Long = stored.rows
  override def isWhole: Boolean = stored.isWhole

  override def next(): Boolean = {
    val more = stored.next()
    if (more) {
      val page = stored.page
      val count = if (page.isDictionaryEncoded) 0 else page.nonNull
      plain.clear()
      convert(page.values, count, plain, page.levels)
      converted.stored = page
      converted.values.set(shape, plain.array, 0, plain.length, count)
    }
    more
  }

  /** Converted values may take several times as much memory. */
  private def convert(values: Values, count: Int, into: ByteSink, levels: Int): Unit =
    for (from <- 0 until count by ValuesAtOnce) {
      converter.convert(values, from, math.min(count, from + ValuesAtOnce), into)
      scratch.requireRoom(into.length.toLong, levels)
    }

  private final class ConvertedPage(override val column: ColumnDescriptor) extends PageData {
    var stored: PageData = _
    override val values: Values = new Values
    override def repetition: LevelBuffer = stored.repetition
    override def definition: LevelBuffer = stored.definition
    override def levels: Int = stored.levels
    override def nonNull: Int = stored.nonNull
    override def isDictionaryEncoded: Boolean = stored.isDictionaryEncoded
    override def ids: Array[Int] = stored.ids
    override def dictionary: Option[Values] = ConvertedPages.this.dictionary
  }
}

private object ConvertedPages {

  /** Values converted between two checks of the memory. */
  val ValuesAtOnce = 4096
}
