package io.deltaupkeep.health

import io.deltaupkeep.FileTotal
import io.deltaupkeep.plan.compact.{DataFile, Partition}

/**
 * Totals of a table's files.
 *
 * @param physicalRows in files whose number of rows is in the log
 * @param deletedRows  that deletion vectors hide
 */
final case class FileSummary private (
    sizes: SizeHistogram,
    partitions: Map[Partition, FileTotal],
    physicalRows: Long,
    deletedRows: Long
) {

  def total: FileTotal = sizes.total

  def +(file: DataFile): FileSummary = FileSummary(
    sizes + file.sizeInBytes,
    partitions.updated(
      file.partition,
      partitions.getOrElse(file.partition, FileTotal.none) + file.sizeInBytes
    ),
    physicalRows + file.physicalRows.getOrElse(0L),
    deletedRows + file.deletedRows
  )

  def ++(other: FileSummary): FileSummary = FileSummary(
    sizes ++ other.sizes,
    other.partitions.foldLeft(partitions) { case (all, (partition, total)) =>
      all.updated(partition, all.getOrElse(partition, FileTotal.none) ++ total)
    },
    physicalRows + other.physicalRows,
    deletedRows + other.deletedRows
  )
}

object FileSummary {
  val none: FileSummary = FileSummary(SizeHistogram.empty, Map.empty, 0, 0)

  /** Looks at each file once, and keeps none. */
  def of(files: IterableOnce[DataFile]): FileSummary = files.iterator.foldLeft(none)(_ + _)
}
