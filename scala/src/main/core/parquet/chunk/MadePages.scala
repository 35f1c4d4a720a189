package io.deltaupkeep.parquet.chunk

import io.deltaupkeep.parquet.bytes.LittleEndian
import io.deltaupkeep.parquet.encoding.{LevelBuffer, ValueShape, Values}
import io.deltaupkeep.parquet.footer.Fill
import io.deltaupkeep.parquet.page.{ColumnBuffer, PageData}

import org.apache.parquet.column.ColumnDescriptor

/**
 * The pages of a column that is generated, not read. It is a top-level column with a value in every row.
 *
 * @param count rows of the row group
 * @param most  rows per page
 */
private[parquet] final class MadePages private (filled: MadePage, count: Long, most: Int) extends RowPages {

  override def page: PageData = filled.page
  var firstRow: Long = 0
  var rows: Long = 0
  override def dictionary: Option[Values] = filled.page.dictionary
  override def isWhole: Boolean = true

  override def next(): Boolean = {
    firstRow = rows
    rows = math.min(count, firstRow + most)
    val taken = (rows - firstRow).toInt
    filled.fill(firstRow, taken)
    taken > 0
  }
}

private[parquet] object MadePages {

  /**
   * For a column of optional 64-bit numbers that a file lacks.
   *
   * @param startsAt position in the file of the row group's first row
   */
  def filled(column: ColumnDescriptor, fill: Fill, startsAt: Long, count: Long, pageRows: Int): MadePages =
    fill match {
      case Fill.RowNumber(base) => new MadePages(new NumberedPage(column, base + startsAt), count, pageRows)
      case Fill.Constant(value) => constant(column, plainOf(value), count, pageRows)
    }

  /** Repeats one value, given in PLAIN encoding. */
  def constant(column: ColumnDescriptor, plain: Array[Byte], count: Long, pageRows: Int): MadePages = {
    val page =
      if (ValueShape.of(column.getPrimitiveType).isBoolean) new BooleanPage(column, plain.head)
      else new ConstantPage(column, plain, math.min(count, pageRows.toLong).toInt)
    new MadePages(page, count, pageRows)
  }

  private def plainOf(value: Long): Array[Byte] = {
    val plain = new Array[Byte](8)
    LittleEndian.putLong(plain, 0, value)
    plain
  }
}

/** One page, which is refilled for each page of the column. */
private sealed trait MadePage {
  def page: PageData

  /** Refills the page, starting at a row of the row group. */
  def fill(firstRow: Long, rows: Int): Unit
}

/** A page of row numbers. */
private final class NumberedPage(column: ColumnDescriptor, ofFirst: Long) extends MadePage {
  override val page = new ColumnBuffer(column)

  override def fill(firstRow: Long, rows: Int): Unit = {
    page.clear()
    page.definedAll(rows)
    page.plain.reserve(8 * rows)
    val number = ofFirst + firstRow
    var i = 0
    while (i < rows) {
      LittleEndian.putLong(page.plain.array, 8 * i, number + i)
      i += 1
    }
    page.plain.advance(8 * rows)
    page.complete()
    ()
  }
}

/** A page of one boolean: booleans have no dictionary (Parquet format, 'Dictionary Encoding'). */
private final class BooleanPage(column: ColumnDescriptor, value: Byte) extends MadePage {
  override val page = new ColumnBuffer(column)

  override def fill(firstRow: Long, rows: Int): Unit = {
    page.clear()
    page.definedAll(rows)
    page.plain.reserve(rows)
    java.util.Arrays.fill(page.plain.array, 0, rows, value)
    page.plain.advance(rows)
    page.complete()
    ()
  }
}

/** A page of one value: ids of a dictionary with one entry, so the rows are never looked at. */
private final class ConstantPage(override val column: ColumnDescriptor, plain: Array[Byte], mostRows: Int)
    extends PageData
    with MadePage {

  private val entries = new Values().set(ValueShape.of(column.getPrimitiveType), plain, 0, plain.length, 1)

  override val repetition = new LevelBuffer
  override val definition = new LevelBuffer
  override val values = new Values
  override val ids: Array[Int] = new Array[Int](mostRows)
  override def levels: Int = definition.size
  override def nonNull: Int = levels
  override def isDictionaryEncoded: Boolean = true
  override val dictionary: Option[Values] = Some(entries)
  override def page: PageData = this

  override def fill(firstRow: Long, rows: Int): Unit = {
    repetition.clear()
    definition.clear()
    repetition.add(0, rows)
    definition.add(maxDefinition, rows)
  }
}
