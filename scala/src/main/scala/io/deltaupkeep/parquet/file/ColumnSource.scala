package io.deltaupkeep.parquet.file

import io.deltaupkeep.parquet.page.LevelMap

import org.apache.parquet.column.ColumnDescriptor

/** Where the levels and values of an output column come from, for the row groups of one file. */
private[parquet] sealed trait ColumnSource

private[parquet] object ColumnSource {

  /**
   * A column of the file.
   *
   * @param index    of the column among those of the file
   * @param copyable whether its chunks can stand in the output byte for byte
   */
  final case class Present(index: Int, column: ColumnDescriptor, levels: LevelMap, copyable: Boolean)
      extends ColumnSource

  /** The file lacks the column, within a struct that it has: `column` of that struct says where that is null. */
  final case class Shaped(index: Int, column: ColumnDescriptor, levels: LevelMap) extends ColumnSource

  /** The file lacks the column altogether. */
  case object Absent extends ColumnSource
}
