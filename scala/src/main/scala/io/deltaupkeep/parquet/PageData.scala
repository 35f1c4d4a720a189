package io.deltaupkeep.parquet

import org.apache.parquet.column.ColumnDescriptor

/** What a page of a column says, its levels and values decoded. */
private[parquet] trait PageData {

  def column: ColumnDescriptor

  def repetition: LevelBuffer

  def definition: LevelBuffer

  /** Levels of the page: its values, those that are null included. */
  def levels: Int

  /** Values of the page that are not null. */
  def nonNull: Int

  /** Whether the page holds `ids` of the dictionary, or else `values`. */
  def isDictionaryEncoded: Boolean

  def values: Values

  def ids: Array[Int]

  def dictionary: Option[Values]

  final def maxRepetition: Int = column.getMaxRepetitionLevel

  final def maxDefinition: Int = column.getMaxDefinitionLevel

  /** About the PLAIN bytes of a value of this page. */
  final def meanValueBytes: Double = {
    val plain = if (isDictionaryEncoded) dictionary.getOrElse(values) else values
    if (plain.size == 0) 0d else plain.encodedLength(0, plain.size).toDouble / plain.size
  }
}
