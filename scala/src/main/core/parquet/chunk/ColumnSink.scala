package io.deltaupkeep.parquet.chunk

import io.deltaupkeep.parquet.page.LevelMap

import org.apache.parquet.column.ColumnDescriptor

/** Takes the chunks of a column, one after the other. */
private[parquet] trait ColumnSink {

  /** Of the output. */
  def column: ColumnDescriptor

  /** Appends a chunk. */
  def append(input: RowPages, levels: LevelMap): Unit

  /** Appends empty or null values, in the shape of another column. */
  def appendShape(input: RowPages, levels: LevelMap): Unit

  /** Appends rows that do not have the column. */
  def appendNulls(rows: Long): Unit
}
