package io.deltaupkeep

/** A number of files and their bytes. */
final case class FileTotal(files: Long, bytes: Long) {
  def +(size: Long): FileTotal = FileTotal(files + 1, bytes + size)
  def ++(other: FileTotal): FileTotal =
    FileTotal(files + other.files, bytes + other.bytes)
  private[deltaupkeep] def -(size: Long): FileTotal = FileTotal(files - 1, bytes - size)
}

object FileTotal {

  val none: FileTotal = FileTotal(0, 0)

  /** Makes a count from the sizes of files in bytes. */
  def of(sizes: IterableOnce[Long]): FileTotal = sizes.iterator.foldLeft(none)(_ + _)
}
