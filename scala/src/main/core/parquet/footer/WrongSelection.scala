package io.deltaupkeep.parquet.footer

/** A row that is said to be gone, in a file that does not have it. The selection may be another file's. */
final class WrongSelection(row: Long, rows: Long)
    extends RuntimeException(s"row $row is said to be deleted, and the file has $rows rows")
