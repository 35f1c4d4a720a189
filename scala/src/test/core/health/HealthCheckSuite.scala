package io.deltaupkeep.health

import io.deltaupkeep.{FileTotal, Tables}
import io.deltaupkeep.log.{CommitTimes, LogDirectory, LogFile}
import io.deltaupkeep.plan.checkpoint.{CheckpointDue, HookOutcome, SinceCheckpoint}
import io.deltaupkeep.plan.cleanup.{CleanupInput, CleanupPlan, CleanupPlanner, Cutoff}
import io.deltaupkeep.plan.cluster.{ClusterQuality, KeyQuality}
import io.deltaupkeep.plan.compact.{
  ClusterGroup,
  DataFile,
  Layout,
  OptimizePlan,
  OptimizePlanner,
  OptimizeSettings,
  Partition
}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class HealthCheckSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val day = 24L * 3600 * 1000
  private val now = 100 * day

  private def files(count: Int, size: Long, deleted: Long = 0): Seq[DataFile] =
    (1 to count).map { i =>
      DataFile(s"f$i", Option.when(deleted > 0)("dv"), size, 0, Partition.whole, Some(100), deleted, None)
    }

  private def log(versions: Int, age: Long): CleanupPlan = {
    val commits = (0 until versions).map(v => LogFile(LogDirectory.Root, f"$v%020d.json", 10, now - age))
    val cutoff = now - 30 * day
    CleanupPlanner.plan(CleanupInput(
      commits,
      now,
      cutoff,
      Cutoff.commit(CommitTimes.of(commits.iterator), cutoff, None),
      Map.empty,
      None
    ))
  }

  private val settings = OptimizeSettings(1000, 1000, 0.05)

  private def checks(
      data: Seq[DataFile] = Nil,
      version: Long = 5,
      checkpoint: Option[Long] = Some(5),
      age: Long = day,
      catalogManaged: Boolean = false,
      hook: Option[HookOutcome] = None,
      footers: FooterSample = FooterSample(2, Seq(1000, 3000), 500, 0, Nil),
      codecs: CodecSample = CodecSample(2, 100, Map("zstd" -> 95L, "snappy" -> 100L), Set("snappy"), None),
      clustering: Option[ClusterQuality] = None,
      clusteredBy: Seq[String] = Nil,
      withoutStatistics: Long = 0,
      orphans: Orphans = Orphans.Found(FileTotal(0, 0)),
      planOf: Seq[DataFile] => OptimizePlan = OptimizePlanner.compact(_, settings)
  ): Map[String, HealthResult] = {
    val table = Tables.facts(version).copy(catalogManaged = catalogManaged, clusteringColumns = clusteredBy)
    val since = SinceCheckpoint(version - checkpoint.getOrElse(0L), bytes = 30, ageMs = 3 * day)
    val facts = HealthFacts(
      table,
      FileSummary.of(data),
      planOf(data),
      footers,
      codecs,
      clustering,
      FileTotal(withoutStatistics, 10 * withoutStatistics),
      orphans,
      log((version + 1).toInt, age),
      checkpoint.map(NewestCheckpoint(_, "classic", now - 3 * day)),
      since,
      CheckpointDue.reason(table.checkpointLimits, since),
      LoadCost(FileTotal(1, 700), FileTotal(2, 30)),
      hook,
      now
    )
    HealthCheck.of(facts).map(result => result.check -> result).toMap
  }

  test("a table in good order has no findings") {
    val results = checks(files(3, 5000))
    assert(results.values.forall(_.severity == "ok"))
    assert(results.values.forall(_.remedy.isEmpty))
    assert(results("files").value.contains(3d))
    assert(results("oldestVersion").value.contains(0d))
  }

  private def commit(version: Int, age: Long): LogFile =
    LogFile(LogDirectory.Root, f"$version%020d.json", 10, now - age)

  private def ofLog(files: Seq[LogFile], check: String): HealthResult = {
    val times = CommitTimes.of(files.iterator)
    val cutoff = now - 30 * day
    val plan =
      CleanupPlanner.plan(CleanupInput(
        files.toIndexedSeq,
        now,
        cutoff,
        Cutoff.commit(times, cutoff, None),
        Map.empty,
        None
      ))
    val facts = HealthFacts(
      Tables.facts(1),
      FileSummary.of(Nil),
      OptimizePlanner.compact(Nil, OptimizeSettings(1000, 1000, 0.05)),
      FooterSample(0, Nil, 0, 0, Nil),
      CodecSample(0, 0, Map.empty, Set.empty, None),
      None,
      FileTotal.none,
      Orphans.NotLookedFor("so"),
      plan,
      None,
      SinceCheckpoint(commits = 1, bytes = 20, ageMs = 0),
      None,
      LoadCost(FileTotal(0, 0), FileTotal(2, 20)),
      None,
      now
    )
    HealthCheck.of(facts).find(_.check == check).get
  }

  private def detailsOf(result: HealthResult, series: String): Seq[(String, Long, Long)] =
    result.details.filter(_.series == series).map(detail => (detail.label, detail.count, detail.bytes))

  test("sizes before and after have the same classes, without empty ones at their ends") {
    val kib = 1L << 10
    val result =
      checks(files(3, 70 * kib) ++ files(40, 300).map(file => file.copy(path = "s" + file.path)))("files")
    val before = detailsOf(result, "size")
    val after = detailsOf(result, "sizeAfter")
    assert(before == Seq(("under 64 KiB", 40, 12000), ("64 KiB to 256 KiB", 3, 210 * kib)))
    assert(after.map(_._1) == before.map(_._1))
    assert(after.map(_._3).sum == before.map(_._3).sum)
    assert(after.head._2 < 40)
  }

  test("partitions come by name, and those with few files together where there are many") {
    val data = (0 until 300).flatMap { i =>
      files(if (i < 200) 2 else 1, 10).map(file =>
        file.copy(path = s"$i/${file.path}", partition = Partition(Seq(Some(s"$i")))(f"p=$i%03d"))
      )
    }
    val result = checks(data)("files")
    val partitions = detailsOf(result, "partition")
    assert(partitions.map(_._1) == (0 until 200).map(i => f"p=$i%03d"))
    val others = detailsOf(result, "otherPartitions")
    assert(others.map(_._1) == Seq("100 other partitions"))
    assert((partitions ++ others).map(_._2).sum == 500)
  }

  test("the gain is of files, of two requests each, and of footers and hidden rows") {
    val hidden = files(4, 100, deleted = 25)
    val gain = detailsOf(checks(hidden)("smallFiles"), "gain")
    assert(gain == Seq(("files", 3, 0), ("requests", 6, 0), ("bytes", 0, 3 * 250 + 4 * 25)))
    assert(checks(files(3, 5000))("smallFiles").details.isEmpty)
  }

  test("a clustering that makes more files of large ones saves none") {
    val layout = Layout.Cluster(Seq("a"), full = false)
    def clustered(data: Seq[DataFile]) =
      OptimizePlanner.ordered(data, Seq(ClusterGroup.all(data, settings)), _ => false, settings, layout)
    val large = checks(files(10, 3000), planOf = clustered)("smallFiles")
    assert((large.severity, large.message) == (("info", "10 files could be clustered.")))
    assert(large.details.isEmpty)
    val small = checks(files(10, 300), planOf = clustered)("smallFiles")
    assert(detailsOf(small, "gain").contains(("files", 7, 0)))
  }

  private def quality(byOthers: Long, unclustered: Long): ClusterQuality = ClusterQuality(
    Seq(
      KeyQuality("a", depth = 2, overlap = 1.5, opened = 0.5, Seq("1" -> FileTotal(2, 90))),
      KeyQuality("`b c`", depth = 1, overlap = 0, opened = 0.25, Nil)
    ),
    FileTotal(4, 100),
    FileTotal(if (byOthers > 0) 1 else 0, byOthers),
    FileTotal(if (unclustered > 0) 2 else 0, unclustered),
    clause = Some("ZORDER BY (a, `b c`)")
  )

  test("clustering is told by column, and by the files that are not clustered") {
    val found = checks(clustering = Some(quality(byOthers = 20, unclustered = 50)))("clustering")
    assert(found.value.contains(37.5))
    assert(
      found.message == "By the statistics of 4 files, a query for one value of a opens up to 2.0 files of a partition on " +
        "average (50%), and a file overlaps 1.5 others; a query for one value of `b c` opens up to 1.0 files of a partition on average (25%), " +
        "and a file overlaps 0.0 others. 2 files of 50 B are not clustered. 1 file of 20 B is clustered by other columns."
    )
    assert(detailsOf(found, "clustered").map(d => (d._2, d._3)) == Seq((1, 30), (1, 20), (2, 50)))
    assert(detailsOf(found, "values of a") == Seq(("1", 2, 90)))
    assert(checks()("clustering").value.isEmpty)
  }

  test("a log is shown by day, and a long one in no more than some sixty bars") {
    def days(ages: Seq[Long]) =
      detailsOf(ofLog(ages.zipWithIndex.map { case (age, v) => commit(v, age * day) }, "log"), "day")
    assert(days(Seq(3, 3, 1)) == Seq(("1970-04-08", 2, 20), ("1970-04-10", 1, 10)))
    assert(days(Nil).isEmpty)
    val long = days((0L to 95).reverse)
    assert(long.size == 48 && long.map(_._2).sum == 96)
  }

  test("what has expired is counted by its kind") {
    val commits = (0 to 3).map(commit(_, 40 * day))
    val checkpoint = LogFile(LogDirectory.Root, f"${2}%020d.checkpoint.parquet", 100, now - 40 * day)
    val old = LogFile(LogDirectory.Root, f"${1}%020d.checkpoint.parquet", 50, now - 40 * day)
    val expired = detailsOf(ofLog(commits :+ checkpoint :+ old, "expiredLog"), "expired")
    assert(expired == Seq(("commit", 2, 20), ("classic checkpoint", 1, 50)))
  }

  test("severity and remedy follow the numbers") {
    val analyze = "ANALYZE TABLE t COMPUTE DELTA STATISTICS"
    val vacuum = Some("VACUUM t OPTIONS (mode = 'full')")
    val zOrder = Some("OPTIMIZE t ZORDER BY (a, `b c`)")
    def inOrder(quality: ClusterQuality) = quality.copy(keys = quality.keys.map(_.copy(depth = 1)))
    val zstd = "OPTIMIZE t OPTIONS (codec = 'zstd')"
    def sizes(found: String, withZstd: Long, asked: Option[String] = None): CodecSample =
      CodecSample(2, 100, Map("zstd" -> withZstd, "snappy" -> 100L), Set(found), asked)
    val cases = Table(
      ("results", "check", "severity", "remedy"),
      (checks(files(2, 10)), "smallFiles", "warning", Some("OPTIMIZE t")),
      (checks(files(40, 5000) ++ files(2, 10)), "smallFiles", "info", Some("OPTIMIZE t")),
      (checks(files(3000, 1)), "smallFiles", "critical", Some("OPTIMIZE t")),
      (checks(files(2, 5000, deleted = 50)), "deletedRows", "warning", Some("OPTIMIZE t")),
      (checks(files(2, 5000, deleted = 2)), "deletedRows", "info", Some("OPTIMIZE t")),
      (checks(checkpoint = None), "checkpoint", "info", None),
      (checks(version = 14), "commitsSinceCheckpoint", "ok", None),
      (checks(version = 15), "commitsSinceCheckpoint", "warning", Some("CHECKPOINT t")),
      (checks(version = 25), "commitsSinceCheckpoint", "warning", Some("CHECKPOINT t")),
      (checks(version = 200), "commitsSinceCheckpoint", "critical", Some("CHECKPOINT t")),
      (checks(age = 40 * day, checkpoint = None), "expiredLog", "info", Some("CHECKPOINT t")),
      (checks(age = 40 * day), "expiredLog", "ok", None),
      (checks(footers = FooterSample(2, Seq(9), 5, 0, Seq("no f1"))), "rowGroups", "critical", None),
      (checks(files(2, 10 << 20), codecs = sizes("snappy", 89)), "compression", "info", Some(zstd)),
      (checks(files(2, 10 << 20), codecs = sizes("snappy", 91)), "compression", "ok", None),
      (checks(files(2, 10 << 20), codecs = sizes("snappy", 200)), "compression", "ok", None),
      (checks(files(2, 5000), codecs = sizes("snappy", 89)), "compression", "ok", None),
      (checks(files(2, 10 << 20), codecs = sizes("zstd", 80)), "compression", "ok", None),
      (checks(files(2, 10 << 20), codecs = sizes("snappy", 89, Some("snappy"))), "compression", "ok", None),
      (checks(files(2, 10 << 20), codecs = sizes("snappy", 89, Some("lz4"))), "compression", "ok", None),
      (checks(codecs = CodecSample(0, 0, Map.empty, Set.empty, None)), "compression", "ok", None),
      (
        checks(codecs = CodecSample(0, 0, Map.empty, Set.empty, None, Seq("no f1"))),
        "compression",
        "critical",
        None
      ),
      (checks(), "clustering", "ok", None),
      (checks(clustering = Some(quality(0, 9))), "clustering", "ok", None),
      (checks(clustering = Some(quality(5, 5))), "clustering", "info", zOrder),
      (checks(clustering = Some(quality(0, 30))), "clustering", "warning", zOrder),
      (
        checks(clustering = Some(quality(0, 10).copy(clause = None)), clusteredBy = Seq("a")),
        "clustering",
        "info",
        Some("OPTIMIZE t")
      ),
      (checks(clustering = Some(quality(40, 9)), clusteredBy = Seq("a")), "clustering", "ok", None),
      (checks(clustering = Some(inOrder(quality(0, 90)))), "clustering", "ok", None),
      (checks(files(30, 5000), withoutStatistics = 2), "statistics", "info", Some(analyze)),
      (checks(files(30, 5000), withoutStatistics = 3), "statistics", "warning", Some(analyze)),
      (
        checks(footers = FooterSample(2, Seq(9), 5, 1, Nil)),
        "statistics",
        "critical",
        Some(s"$analyze OPTIONS (mode = 'all')")
      ),
      (checks(orphans = Orphans.NotLookedFor("so")), "orphans", "ok", None),
      (checks(orphans = Orphans.Found(FileTotal(3, 9))), "orphans", "info", vacuum),
      (checks(orphans = Orphans.Found(FileTotal(3000, 9))), "orphans", "warning", vacuum),
      (checks(files(2, 10), catalogManaged = true), "smallFiles", "warning", None)
    )
    forAll(cases) { (results, check, severity, remedy) =>
      assert(results(check).severity == severity)
      assert(results(check).remedy == remedy)
    }
  }
}
