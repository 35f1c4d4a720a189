package io.deltaupkeep.log

/** Files of a log by the names that the protocol gives them, and the times that the suites share. */
object LogFiles {
  val Hour: Long = 3600L * 1000
  val Day: Long = 24 * Hour

  /** Noon of some day, milliseconds since the epoch. */
  val Now: Long = 20000 * Day + 12 * Hour

  /** Midnight before yesterday's: a file from then on may belong to a write in progress. */
  val YoungFrom: Long = 19999 * Day

  val Old: Long = YoungFrom - 1

  def root(name: String, time: Long = Old, size: Long = 10): LogFile =
    LogFile(LogDirectory.Root, name, size, time)

  def commit(version: Long, time: Long = Old): LogFile = root(f"$version%020d.json", time)
  def checksum(version: Long): LogFile = root(f"$version%020d.crc")
  def removedFiles(first: Long, last: Long): LogFile = root(s"_removed_files_${first}_$last")
  def compaction(start: Long, end: Long): LogFile = root(f"$start%020d.$end%020d.compacted.json")

  def classic(version: Long, time: Long = Old, size: Long = 10): LogFile =
    root(f"$version%020d.checkpoint.parquet", time, size)

  def part(version: Long, part: Int, parts: Int, time: Long = Old, size: Long = 10): LogFile =
    root(f"$version%020d.checkpoint.$part%010d.$parts%010d.parquet", time, size)

  def v2(version: Long, id: String, format: String, time: Long = Old, size: Long = 10): LogFile =
    root(f"$version%020d.checkpoint.$id.$format", time, size)

  def sidecar(name: String, time: Long = Old, size: Long = 10): LogFile =
    LogFile(LogDirectory.Sidecars, name, size, time)

  def staged(version: Long, id: String): LogFile =
    LogFile(LogDirectory.StagedCommits, f"$version%020d.$id.json", 10, Old)

  def temporary(directory: LogDirectory, name: String, time: Long): LogFile =
    LogFile(directory, s".$name.80a083e8-7026-4e79-81be-64bd76c43a11.tmp", 10, time)

  val pointer: LogFile = root("_last_checkpoint")
}
