package io.deltaupkeep.optimize

/**
 * A data file of the table, as the planner sees it (protocol, 'Add File and Remove File').
 *
 * @param path             as Delta's replay of the log spells it: relative to the table, or absolute
 * @param deletionVector   id of its deletion vector; with `path` it names the file once
 * @param sizeInBytes      of the Parquet file
 * @param modificationTime milliseconds since the epoch
 * @param physicalRows     rows in the file, deleted ones included, where the log knows
 * @param deletedRows      rows that the deletion vector hides
 * @param optimizedFor     target size, in bytes, of the OPTIMIZE that wrote the file, if one did
 */
final case class DataFile(
    path: String,
    deletionVector: Option[String],
    sizeInBytes: Long,
    modificationTime: Long,
    partition: Partition,
    physicalRows: Option[Long],
    deletedRows: Long,
    optimizedFor: Option[Long]
) {

  def id: DataFile.Id = DataFile.Id(path, deletionVector)

  /** Deleted rows over all rows: 1 where rows are deleted and the log does not know of how many. */
  def deletedRowsRatio: Double =
    if (deletionVector.isEmpty) 0d
    else physicalRows.filter(_ > 0).fold(1d)(deletedRows.toDouble / _)
}

object DataFile {

  /** What tells two files of a table apart (protocol, 'Action Reconciliation'). */
  final case class Id(path: String, deletionVector: Option[String])
}
