package io.deltaupkeep.parquet.chunk

import io.deltaupkeep.parquet.bytes.ByteSink
import io.deltaupkeep.parquet.encoding.{IdBuffer, LevelBuffer, ValueShape, Values}
import io.deltaupkeep.parquet.footer.RowSelection
import io.deltaupkeep.parquet.page.PageData

import org.apache.parquet.column.ColumnDescriptor

/** A page without its dropped rows. Levels, and ids or values, of the kept rows are copied run by run. */
private[chunk] final class CutPage(override val column: ColumnDescriptor, scratch: CutScratch)
    extends PageData {
  import scratch.{kept, plain}

  private val shape = ValueShape.of(column.getPrimitiveType)
  private var page: PageData = _

  override val repetition: LevelBuffer = scratch.repetition
  override val definition: LevelBuffer = scratch.definition
  override val values: Values = scratch.values
  override def ids: Array[Int] = kept.array
  override def levels: Int = definition.size
  var nonNull: Int = 0
  override def isDictionaryEncoded: Boolean = nonNull > 0 && page.isDictionaryEncoded
  override def dictionary: Option[Values] = page.dictionary

  /** The position in the page: a level, and the value that belongs to it or follows it. */
  private var level = 0
  private var value = 0

  /**
   * Takes the kept rows of a page. They are valid until the next call.
   *
   * @param firstRow of the first level of the page, which may continue a row of the previous page
   */
  def take(from: PageData, firstRow: Long, rows: RowSelection): this.type = {
    scratch.clear()
    page = from
    level = 0
    value = 0
    nonNull = 0
    var row = firstRow
    while (level < from.levels) {
      val start = rows.nextKept(row)
      skip(start - row)
      row = rows.nextDropped(start)
      if (level < from.levels) copy(row - start)
    }
    values.set(shape, plain.array, 0, plain.length, if (isDictionaryEncoded) 0 else nonNull)
    this
  }

  private def skip(rows: Long): Unit = {
    val end = endOf(rows)
    value += page.definition.occurrences(maxDefinition, level, end)
    level = end
  }

  private def copy(rows: Long): Unit = {
    val end = endOf(rows)
    val values = page.definition.occurrences(maxDefinition, level, end)
    repetition.add(page.repetition, level, end)
    definition.add(page.definition, level, end)
    if (page.isDictionaryEncoded) kept.add(page.ids, value, value + values)
    else plain.putBytes(
      page.values.array,
      page.values.start(value),
      page.values.encodedLength(value, value + values)
    )
    nonNull += values
    value += values
    level = end
  }

  /** Where the next `rows` rows end, counted from the current level. */
  private def endOf(rows: Long): Int = {
    val levels = page.levels
    if (page.repetition.isAll(0)) math.min(levels.toLong, level + rows.min(levels.toLong)).toInt
    else {
      var left = rows
      var at = level
      while (left > 0 && at < levels) {
        at += 1
        if (at < levels && page.repetition(at) == 0) left -= 1
      }
      at
    }
  }
}

/** Buffers for the kept rows of a page. */
private[parquet] final class CutScratch {
  val repetition = new LevelBuffer
  val definition = new LevelBuffer
  val values = new Values
  val kept = new IdBuffer
  val plain = new ByteSink()

  def clear(): Unit = {
    repetition.clear()
    definition.clear()
    kept.clear()
    plain.clear()
  }
}
