package io.deltaupkeep.parquet.file

import io.deltaupkeep.parquet.page.{LevelMap, ValueConverter}

import org.apache.parquet.column.ColumnDescriptor

/** The source of an output column's levels and values, for the row groups of one file. */
private[parquet] sealed trait ColumnSource

private[parquet] object ColumnSource {

  /**
   * A column of the file.
   *
   * @param index     of the column among those of the file
   * @param copyable  whether its chunks can be copied to the output byte for byte
   * @param converter of values that are stored in another form than those of the output
   */
  final case class Present(
      index: Int,
      column: ColumnDescriptor,
      levels: LevelMap,
      copyable: Boolean,
      converter: Option[ValueConverter]
  ) extends ColumnSource

  /**
   * The file has the struct but not this field of it. Another `column` of the struct tells where the struct
   * is null.
   */
  final case class Shaped(index: Int, column: ColumnDescriptor, levels: LevelMap) extends ColumnSource

  /** The file lacks the column altogether. */
  case object Absent extends ColumnSource
}
