package io.deltaupkeep.cleanup

/** Files of logs for the planner's tests. */
private[cleanup] object Logs {
  val day: Long = 24L * 3600 * 1000

  /** Noon, so that "older than a day, as of midnight" is 36 hours ago. */
  val now: Long = 1000 * day + day / 2
  val old: Long = now - 40 * day
  val young: Long = now - day

  def commit(version: Long, time: Long = old): LogFile = file(f"$version%020d.json", time)
  def checksum(version: Long, time: Long = old): LogFile = file(f"$version%020d.crc", time)
  def classic(version: Long, time: Long = old): LogFile = file(f"$version%020d.checkpoint.parquet", time)
  def part(version: Long, part: Int, parts: Int, time: Long = old): LogFile =
    file(f"$version%020d.checkpoint.$part%010d.$parts%010d.parquet", time)
  def v2(version: Long, uuid: String, time: Long = old, format: String = "json"): LogFile =
    file(f"$version%020d.checkpoint.$uuid.$format", time)
  def compaction(start: Long, end: Long): LogFile = file(f"$start%020d.$end%020d.compacted.json", old)
  def staged(version: Long): LogFile =
    LogFile(LogDirectory.StagedCommits, f"$version%020d.uuid.json", 10, old)
  def sidecar(name: String, time: Long = old): LogFile =
    LogFile(LogDirectory.Sidecars, s"$name.parquet", 10, time)
  def temporary(time: Long): LogFile = file(".00000000000000000001.json.uuid.tmp", time)

  def file(name: String, time: Long): LogFile = LogFile(LogDirectory.Root, name, 10, time)

  def commits(from: Long, to: Long): Seq[LogFile] = (from to to).map(commit(_))

  def named(names: String*): SidecarReferences = SidecarReferences.Named(names.map(_ + ".parquet").toSet)
}
