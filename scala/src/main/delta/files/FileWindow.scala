package org.apache.spark.sql.delta.upkeep.files

import io.deltaupkeep.FileTotal
import io.deltaupkeep.plan.compact.{DataFile, Partition}

/**
 * Files that are planned together, few enough for the driver: those of some partitions, or a share of a partition that has
 * too many.
 *
 * @param files that may be chosen
 */
private[upkeep] final case class FileWindow(
    partitions: Set[Partition],
    share: FileWindow.Share,
    files: FileTotal
) {
  def has(file: DataFile): Boolean = partitions(file.partition) && share.has(file)
}

private[upkeep] object FileWindow {

  /** One of several parts of a partition. All entries of a path are in one part, and all files of a Z-cube. */
  final case class Share(number: Int, of: Int) {
    def has(file: DataFile): Boolean =
      of == 1 || Math.floorMod(file.cube.getOrElse(file.path).hashCode, of) == number
  }

  /**
   * Windows of about `most` files at most, first those of the partitions with the most files.
   *
   * @param found the files that may be chosen, by partition
   */
  def of(found: Seq[(Partition, FileTotal)], most: Long): Seq[FileWindow] = {
    val (large, others) = found.sortBy { case (partition, total) => (-total.files, partition.text) }
      .partition(_._2.files > most)
    val divided =
      for {
        (partition, total) <- large
        shares = ((total.files - 1) / most + 1).toInt
        number <- 0 until shares
      } yield FileWindow(
        Set(partition),
        Share(number, shares),
        FileTotal(part(total.files, number, shares), part(total.bytes, number, shares))
      )
    divided ++ together(others, most)
  }

  private def together(found: Seq[(Partition, FileTotal)], most: Long): Seq[FileWindow] =
    found.foldLeft(List.empty[FileWindow]) {
      case (last :: done, (partition, total)) if last.files.files + total.files <= most =>
        last.copy(partitions = last.partitions + partition, files = last.files ++ total) :: done
      case (done, (partition, total)) => FileWindow(Set(partition), Share(0, 1), total) :: done
    }.reverse

  /** Parts of a number whose sum is the number. */
  private def part(all: Long, number: Int, of: Int): Long = all / of + (if (number < all % of) 1 else 0)
}
