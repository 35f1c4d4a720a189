package io.deltaupkeep.parquet.plan

import io.deltaupkeep.parquet.encoding.ValueConverter
import io.deltaupkeep.parquet.page.LevelMap

import org.apache.parquet.column.ColumnDescriptor

/** The source of an output column's levels and values, for the row groups of one file. */
private[parquet] sealed trait ColumnSource

private[parquet] object ColumnSource {

  /**
   * A column of the file.
   *
   * @param index of the column among those of the file
   * @param form  of its values, relative to the output's
   */
  final case class Present(
      index: Int,
      column: ColumnDescriptor,
      levels: LevelMap,
      form: Form
  ) extends ColumnSource

  /**
   * The file has the struct but not this field. Another `column` of the struct shows where the struct is null.
   */
  final case class Shaped(index: Int, column: ColumnDescriptor, levels: LevelMap) extends ColumnSource

  /** The file lacks the column altogether. */
  case object Absent extends ColumnSource

  /** One value in every row, whatever the file has: `plain` in PLAIN encoding. */
  final case class Constant(plain: Array[Byte]) extends ColumnSource

  /** How a column's values relate to the output. */
  sealed trait Form

  object Form {

    /** Its chunks can be copied to the output byte for byte. */
    case object Equal extends Form

    /** The values are stored the same way, but the column's path or levels differ. */
    case object Moved extends Form

    /** The values are stored as another type. */
    final case class Converted(converter: ValueConverter) extends Form
  }
}
