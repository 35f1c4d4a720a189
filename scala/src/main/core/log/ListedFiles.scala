package io.deltaupkeep.log

import scala.collection.mutable

/**
 * The files of a log, in the order of the listing. Commits and checksums, which are most of a log, take 30
 * bytes each: 15 MB for half a million. Other files keep their names and take 120 bytes each.
 */
final class ListedFiles private (
    kinds: Array[Byte],
    names: Array[String],
    versions: Array[Long],
    sizes: Array[Long],
    times: Array[Long]
) extends IndexedSeq[LogFile] {
  import ListedFiles._

  override def length: Int = kinds.length

  override def apply(i: Int): LogFile = kinds(i) match {
    case Commit => LogFile(LogDirectory.Root, padded(versions(i)) + ".json", sizes(i), times(i))
    case Checksum => LogFile(LogDirectory.Root, padded(versions(i)) + ".crc", sizes(i), times(i))
    case named => LogFile(directories(named), names(i), sizes(i), times(i))
  }
}

object ListedFiles {

  private val directories = IndexedSeq(LogDirectory.Root, LogDirectory.Sidecars, LogDirectory.StagedCommits)
  private val Commit = directories.size.toByte
  private val Checksum = (directories.size + 1).toByte

  private def padded(version: Long): String = {
    val digits = version.toString
    "0" * (LogFileKind.Digits - digits.length) + digits
  }

  /** Takes the files one by one. */
  def of(files: Iterator[LogFile]): ListedFiles = {
    val kinds = mutable.ArrayBuilder.make[Byte]
    val names = mutable.ArrayBuilder.make[String]
    val versions = mutable.ArrayBuilder.make[Long]
    val sizes = mutable.ArrayBuilder.make[Long]
    val times = mutable.ArrayBuilder.make[Long]
    files.foreach { file =>
      val (kind, name, version) = file.kind match {
        case LogFileKind.Commit(version) if file.name.length == LogFileKind.Digits + ".json".length =>
          (Commit, null, version)
        case LogFileKind.Checksum(version) if file.name.length == LogFileKind.Digits + ".crc".length =>
          (Checksum, null, version)
        case _ => (directories.indexOf(file.directory).toByte, file.name, 0L)
      }
      kinds += kind
      names += name
      versions += version
      sizes += file.sizeInBytes
      times += file.modificationTime
    }
    new ListedFiles(kinds.result(), names.result(), versions.result(), sizes.result(), times.result())
  }
}
