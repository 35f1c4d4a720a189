package io.deltaupkeep.parquet.chunk

import io.deltaupkeep.parquet.bytes.{ByteSink, LittleEndian}
import io.deltaupkeep.parquet.footer.Fill
import io.deltaupkeep.parquet.page.{ColumnBuffer, LevelBuffer, PageData, ValueShape, Values}

import org.apache.parquet.column.ColumnDescriptor

/**
 * The pages of a column of optional 64-bit numbers that a file lacks, with a fill in every row.
 *
 * @param column   outside structs and lists
 * @param startsAt position in the file of the row group's first row
 * @param count    rows of the row group
 * @param pageRows of a page at most
 */
private[parquet] final class MissingPages(
    column: ColumnDescriptor,
    fill: Fill,
    startsAt: Long,
    count: Long,
    pageRows: Int
) extends RowPages {

  private lazy val numbers = new ColumnBuffer(column)
  private lazy val constants = new ConstantPage(column, fill.at(0), math.min(count, pageRows.toLong).toInt)
  private val isConstant = fill.isInstanceOf[Fill.Constant]

  override def page: PageData = if (isConstant) constants else numbers
  var firstRow: Long = 0
  var rows: Long = 0
  override def dictionary: Option[Values] = if (isConstant) constants.dictionary else None
  override def isWhole: Boolean = true

  override def next(): Boolean = {
    firstRow = rows
    rows = math.min(count, firstRow + pageRows)
    val taken = (rows - firstRow).toInt
    if (isConstant) constants.fill(taken) else number(taken)
    taken > 0
  }

  private def number(taken: Int): Unit = {
    numbers.clear()
    numbers.definedAll(taken)
    numbers.plain.reserve(8 * taken)
    val first = startsAt + firstRow
    var i = 0
    while (i < taken) {
      LittleEndian.putLong(numbers.plain.array, 8 * i, fill.at(first + i))
      i += 1
    }
    numbers.plain.advance(8 * taken)
    numbers.complete()
    ()
  }
}

/** A page of one value: ids of a dictionary that has no other, so that nobody looks at the rows. */
private final class ConstantPage(override val column: ColumnDescriptor, value: Long, mostRows: Int)
    extends PageData {

  private val entries = {
    val plain = new ByteSink()
    plain.putLong(value)
    new Values().set(ValueShape.of(column.getPrimitiveType), plain.array, 0, plain.length, 1)
  }

  override val repetition = new LevelBuffer
  override val definition = new LevelBuffer
  override val values = new Values
  override val ids: Array[Int] = new Array[Int](mostRows)
  override def levels: Int = definition.size
  override def nonNull: Int = levels
  override def isDictionaryEncoded: Boolean = true
  override val dictionary: Option[Values] = Some(entries)

  def fill(rows: Int): Unit = {
    repetition.clear()
    definition.clear()
    repetition.add(0, rows)
    definition.add(maxDefinition, rows)
  }
}
