package io.deltaupkeep.log

/**
 * The commits of a log by version, in 16 bytes each.
 *
 * @param versions ascending
 * @param fileTimes of modification, milliseconds since the epoch
 */
final class CommitTimes private (versions: Array[Long], fileTimes: Array[Long]) {

  def size: Int = versions.length

  def version(i: Int): Long = versions(i)

  def fileTime(i: Int): Long = fileTimes(i)

  def newest: Option[Long] = versions.lastOption

  /** The version from which on no commit is missing. Commits 3, 4, 7, 8, 9 end in the run from 7 on. */
  def startOfUnbrokenRun: Option[Long] = Option.when(size > 0) {
    val gap = (size - 1 until 0 by -1).find(i => version(i - 1) != version(i) - 1)
    version(gap.getOrElse(0))
  }

  def contains(version: Long): Boolean = java.util.Arrays.binarySearch(versions, version) >= 0

  /** Those from a version on. */
  def from(version: Long): CommitTimes = {
    val first = java.util.Arrays.binarySearch(versions, version)
    val kept = if (first >= 0) first else -first - 1
    new CommitTimes(versions.drop(kept), fileTimes.drop(kept))
  }
}

object CommitTimes {

  /** Of the commits among the files. */
  def of(files: Iterator[LogFile]): CommitTimes = {
    val commits = files.flatMap { file =>
      file.kind match {
        case LogFileKind.Commit(version) => Some((version, file.modificationTime))
        case _ => None
      }
    }
    val (versions, times) = commits.toArray.sortBy(_._1).unzip
    new CommitTimes(versions, times)
  }
}
