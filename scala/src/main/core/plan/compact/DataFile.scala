package io.deltaupkeep.plan.compact

import java.util.{Arrays, Comparator}

import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * A data file of the table, as the planner sees it (protocol, 'Add File and Remove File').
 *
 * @param path             as Delta's replay of the log spells it: relative to the table, or absolute
 * @param deletionVector   id of its deletion vector; together with `path` it identifies the file
 * @param sizeInBytes      of the Parquet file
 * @param modificationTime milliseconds since the epoch
 * @param physicalRows     rows in the file, deleted ones included, if the log has the number
 * @param deletedRows      rows that the deletion vector hides
 * @param optimizedFor     target size, in bytes, of the OPTIMIZE that wrote the file, if one did
 * @param cube             id of the files that our ZORDER BY or ORDER BY put in order together, if it wrote the file
 */
final case class DataFile(
    path: String,
    deletionVector: Option[String],
    sizeInBytes: Long,
    modificationTime: Long,
    partition: Partition,
    physicalRows: Option[Long],
    deletedRows: Long,
    optimizedFor: Option[Long],
    cube: Option[String] = None
) {

  def id: DataFile.Id = DataFile.Id(path, deletionVector)

  /** Share of deleted rows; 1 if rows are deleted but the log does not have the number of rows. */
  def deletedRowsRatio: Double =
    if (deletionVector.isEmpty) 0d
    else physicalRows.filter(_ > 0).fold(1d)(deletedRows.toDouble / _)
}

object DataFile {

  /** The tag with the columns of a Z-order, as JSON. */
  val ZOrderTag = "deltaUpkeep.zOrderBy"

  /** The tag with the keys of ORDER BY, as JSON. */
  val SortTag = "deltaUpkeep.orderBy"

  /** The tag with the id in `cube`. Without it, files in an order are not told apart. */
  val CubeTag = "deltaUpkeep.cube"

  /** Bytes of some files. No number becomes an object: there may be millions. */
  def bytesOf(files: Iterable[DataFile]): Long = {
    var bytes = 0L
    files.foreach(bytes += _.sizeInBytes)
    bytes
  }

  /** In the order in which they were written. */
  def inOrder(files: Seq[DataFile]): Seq[DataFile] = {
    val all = files.toIndexedSeq
    val times = new Array[Long](all.size)
    for (i <- all.indices) times(i) = all(i).modificationTime
    val order = Ascending.of(times)
    val sorted = order.map(all(_))
    // Files of the same time.
    var start = 0
    for (end <- 1 to sorted.length)
      if (end == sorted.length || times(order(end)) != times(order(start))) {
        if (end - start > 1) Arrays.sort(sorted, start, end, ByPath)
        start = end
      }
    sorted.toIndexedSeq
  }

  private val ByPath: Comparator[DataFile] = (a, b) => a.path.compareTo(b.path)

  /** What identifies a file of a table (protocol, 'Action Reconciliation'). */
  final case class Id(path: String, deletionVector: Option[String])
}

/**
 * What the footers of files say of their codecs: of those files that are not rewritten for another reason.
 *
 * @param others  the files with pages of another codec than was asked for, and those codecs
 * @param unknown why the codecs of a file are not known
 */
final case class CodecFindings(
    others: Map[DataFile.Id, Set[CompressionCodecName]] = Map.empty,
    unknown: Map[DataFile.Id, String] = Map.empty
) {
  def without(files: Iterable[DataFile.Id]): CodecFindings = copy(others = others -- files)
}

object CodecFindings {
  val none: CodecFindings = CodecFindings()
}
