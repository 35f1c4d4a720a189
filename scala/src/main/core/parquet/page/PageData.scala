package io.deltaupkeep.parquet.page

import io.deltaupkeep.parquet.encoding.{LevelBuffer, RunLength, Values}

import org.apache.parquet.column.ColumnDescriptor

/** The decoded levels and values of a page. */
private[parquet] trait PageData {

  def column: ColumnDescriptor

  def repetition: LevelBuffer

  def definition: LevelBuffer

  /** Number of values, nulls included. */
  def levels: Int

  /** Number of values that are not null. */
  def nonNull: Int

  /** Whether the page holds `ids` of the dictionary; otherwise it holds `values`. */
  def isDictionaryEncoded: Boolean

  def values: Values

  def ids: Array[Int]

  def dictionary: Option[Values]

  final def maxRepetition: Int = column.getMaxRepetitionLevel

  final def maxDefinition: Int = column.getMaxDefinitionLevel

  /** Bits that a value's packed repetition and definition levels take. */
  final def bitsOfLevels: Int = RunLength.widthOf(maxRepetition) + RunLength.widthOf(maxDefinition)

  /** The values that the page holds or refers to. */
  final def plainValues: Values = if (isDictionaryEncoded) dictionary.getOrElse(values) else values

  /** PLAIN size of the values from `from` until `to`, in bytes. May stop counting beyond `limit`. */
  final def plainBytes(from: Int, to: Int, limit: Long): Long = {
    val source = plainValues
    if (!isDictionaryEncoded) source.encodedLength(from, to).toLong
    else if (source.isFixed) (to - from).toLong * source.encodedLength(0, 1)
    else {
      val entries = ids
      var bytes = 0L
      var i = from
      while (i < to && bytes <= limit) {
        bytes += source.encodedLength(entries(i), entries(i) + 1)
        i += 1
      }
      bytes
    }
  }
}
