package io.deltaupkeep.parquet.footer

/** A selection drops a row that the file does not have. It may be another file's selection. */
final class WrongSelection(row: Long, rows: Long)
    extends RuntimeException(s"row $row is said to be deleted, and the file has $rows rows")
