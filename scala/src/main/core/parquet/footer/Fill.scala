package io.deltaupkeep.parquet.footer

/** What a column of 64-bit numbers is filled with where a file has no value. */
sealed trait Fill {

  /** The value for a row, by the row's position in the file. */
  def at(row: Long): Long
}

object Fill {

  /** The position of the row, counted from `base` on. */
  final case class RowNumber(base: Long) extends Fill {
    override def at(row: Long): Long = base + row
  }

  final case class Constant(value: Long) extends Fill {
    override def at(row: Long): Long = value
  }
}
