package org.apache.spark.sql.delta.upkeep.files

import java.io.File
import java.nio.file.{Files, StandardCopyOption}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepConf
import io.deltaupkeep.log.ReplayPlace
import io.deltaupkeep.plan.compact.DataFile
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{EqualTo, Literal, ScalaUDF}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.{Action, AddFile, DeletionVectorDescriptor, SetTransaction}
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.state.FileIds
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}
import org.apache.spark.sql.types.BooleanType

class ActiveFilesSuite extends AnyFunSuite {
  import ActiveFilesSuite._
  import TestSession._

  private def open(path: String): DeltaHandle = {
    DeltaLog.clearCache()
    val target = DeltaTarget.byPath(spark, "TEST", path, Map.empty)
    DeltaHandle.open(spark, "TEST", target, Intent.Reorganize)
  }

  /** The files by a job, which must not change any setting of the session. */
  private def byJob(path: String): Seq[AddFile] = {
    val handle = open(path)
    val looks = ScalaUDF(() => { seen.add(spark.conf.getOption(Setting)); true }, BooleanType, Nil)
    val found = ActiveFiles.of(handle, Seq(looks))
    assert(found.replay.isInstanceOf[ReplayPlace.AsJob], found.replay)
    found.selected
  }

  test("statistics that are not in JSON are read by a job, and no other thread sees a setting for it") {
    val noJson = "delta.checkpoint.writeStatsAsJson" -> "false"
    val path = newTable("fewTasks", 1, noJson, "delta.checkpoint.writeStatsAsStruct" -> "true")
    spark.sql(s"CHECKPOINT delta.`$path`")
    val before = spark.conf.getOption(Setting)
    val found = byJob(path)
    assert(found.map(asText) == open(path).snapshot.allFiles.collect().map(asText).toSeq)
    assert(seen.asScala.toSet == Set(before))
    val explained = spark.sql(s"EXPLAIN OPTIMIZE delta.`$path`").head().getString(0)
    assert(!explained.contains("by a Spark job"), s"a plan needs no statistics\n$explained")
  }

  for {
    (policy, format) <- Seq("classic" -> "parquet", "v2" -> "json", "v2" -> "parquet")
    hasRowIds <- Seq(true, false)
  }
    test(s"the files are those of Delta's replay: $policy, $format, row ids $hasRowIds") {
      val path = newTable(
        s"replayed-$policy-$format-$hasRowIds",
        6,
        "delta.checkpointPolicy" -> policy,
        "delta.checkpointInterval" -> "100",
        "delta.checkpoint.writeStatsAsStruct" -> "false",
        "delta.enableDeletionVectors" -> "true",
        "delta.enableRowTracking" -> hasRowIds.toString
      )
      spark.sql(s"INSERT INTO delta.`$path` SELECT id, 1 FROM range(50, 60)")
      spark.sql(s"DELETE FROM delta.`$path` WHERE id IN (3, 51)")
      assertSame(path)
      val options = if (policy == "v2") s"OPTIONS (format = '$format', partSize = 3)" else ""
      spark.sql(s"CHECKPOINT delta.`$path` $options")
      assertSame(path)
      spark.sql(s"DELETE FROM delta.`$path` WHERE id IN (4, 52)")
      append(path, 70)
      assertSame(path)
    }

  private def asText(add: AddFile) = add.productIterator.map {
    // No tags may be null or empty.
    case tags: Map[_, _] if tags.isEmpty => null
    // Delta's replay loses the last row's number, which is for writers of vectors.
    case vector: DeletionVectorDescriptor => vector.copy(maxRowIndex = None)
    case field => field
  }.mkString(", ")

  private def assertSame(path: String): Unit = {
    val handle = open(path)
    val found = ActiveFiles.of(handle, Nil)
    val onDriver = found.selected
    assert(found.replay == ReplayPlace.OnDriver)
    assert(onDriver.exists(_.deletionVector != null))
    assertSameOutlines(handle, found)
    val ofDelta = handle.snapshot.allFiles.collect().map(asText).toSeq.sorted
    assert(onDriver.map(asText).sorted == ofDelta)
    spark.conf.set(UpkeepConf.DriverBytes.key, 0)
    try assert(byJob(path).map(asText).sorted == ofDelta)
    finally spark.conf.unset(UpkeepConf.DriverBytes.key)
  }

  /** What is read by columns, and by one column after the other, is what Delta's actions have. */
  private def assertSameOutlines(handle: DeltaHandle, actions: ActiveFiles): Unit = {
    val expected = DataFiles.ofActions(handle, actions)
    val found = DataFiles.of(handle, Nil, _ => true)
    assert(found.replay == ReplayPlace.OnDriver && found.highestRowId == expected.highestRowId)
    // Without deleted rows, their number chooses no file.
    def chosenBy(file: DataFile) = if (file.deletedRows == 0) file.copy(physicalRows = None) else file
    assert(found.kept.map(chosenBy).toSet == expected.kept.map(chosenBy).toSet)
    assert(found.kept.exists(_.deletedRowsRatio > 0) && found.considered == expected.kept.size)
    val some = found.kept.map(_.id).sortBy(_.path).take(2).toSet
    val ids = new FileIds(handle.snapshot)
    val wanted = actions.selected.filter(add => some(ids.idOf(add))).map(asText).toSet
    def loaded = ActiveFiles.some(handle, some)
    assert(loaded.keySet == some && loaded.values.map(asText).toSet == wanted)
    withConf(UpkeepConf.DriverBytes.key -> "0")(assert(loaded.values.map(asText).toSet == wanted, "by a job"))
    assert(ActiveFiles.some(handle, Set.empty).isEmpty)
    val isOdd = EqualTo(UnresolvedAttribute("p"), Literal(1))
    val odd = ActiveFiles.of(handle, Seq(isOdd)).selected.map(ids.idOf).toSet
    val inOdd = DataFiles.of(handle, Seq(isOdd), _ => true)
    assert(inOdd.kept.map(_.id).toSet == odd && inOdd.considered == odd.size)
    // What is left out is counted, and files with deletion vectors are not.
    val few = DataFiles.of(handle, Nil, _ => false)
    assert(few.considered == found.considered)
    val withVectors = found.kept.filter(_.deletionVector.nonEmpty).map(chosenBy).toSet
    assert(few.kept.filter(_.deletionVector.nonEmpty).map(chosenBy).toSet == withVectors)
  }

  test("a file that a damaged checkpoint names twice is one file") {
    val path = newTable("doubled", 4)
    spark.sql(s"CHECKPOINT delta.`$path`")
    val log = new File(path, "_delta_log")
    val checkpoint = new File(log, f"${4}%020d.checkpoint.parquet")
    val rows = spark.read.parquet(checkpoint.toString)
    val doubled = new File(root, "doubled-rows").toString
    rows.union(rows.where("add.path IS NOT NULL").limit(1)).coalesce(1).write.parquet(doubled)
    val written = new File(doubled).listFiles.find(_.getName.endsWith(".parquet")).get
    Files.copy(written.toPath, checkpoint.toPath, StandardCopyOption.REPLACE_EXISTING)
    log.listFiles.filter(_.getName.endsWith(".crc")).foreach(_.delete())
    val found = DataFiles.of(open(path), Nil, _ => true)
    assert(found.kept.map(_.id).distinct.size == 4 && found.kept.size == 4 && found.considered == 4)
    for (p <- Seq(0, 1)) {
      val inPartition = Seq(EqualTo(UnresolvedAttribute("p"), Literal(p)))
      assert(DataFiles.of(open(path), inPartition, _ => true).considered == 2)
    }
    val whole = DataFiles.ofActions(open(path), ActiveFiles.of(open(path), Nil))
    assert(whole.kept.toSet.size == 4 && whole.considered == 4)
  }

  test("a file that is removed by another relative path is gone") {
    val path = newTable("dotted", 3)
    val removed = newest(path).allFiles.where("partitionValues.p = '0'").head()
    val remove = Action.fromJson(removed.remove.json.replace(removed.path, s"./${removed.path}"))
    Files.writeString(new File(path, f"_delta_log/${4}%020d.json").toPath, remove.json)
    DeltaLog.clearCache()
    append(path, 5)
    val files = ActiveFiles.of(open(path), Nil).selected
    assert(ids(path) == Seq(1, 3, 5) && files.size == 3 && !files.exists(_.path == removed.path))
  }

  /** A table whose last commit removes a file and adds it, or the other way round, and the file. */
  private def withTwoActions(name: String, isKept: Boolean, others: Seq[Action] = Nil): (String, AddFile) = {
    val path = newTable(s"$name-$isKept", 3)
    spark.sql(s"CHECKPOINT delta.`$path`")
    val add = newest(path).allFiles.where("partitionValues.p = '0'").head()
    val actions = Seq(add.remove, add)
    val lines = ((if (isKept) actions else actions.reverse) ++ others).map(_.json)
    Files.writeString(new File(path, f"_delta_log/${4}%020d.json").toPath, lines.mkString("", "\n", "\n"))
    DeltaLog.clearCache()
    (path, add)
  }

  test("of several actions for one file in a commit, the last one counts, as in Delta") {
    for (isKept <- Seq(true, false)) {
      val (path, add) = withTwoActions("twice", isKept)
      val handle = open(path)
      val found = ActiveFiles.of(handle, Nil)
      assert(found.replay == ReplayPlace.OnDriver && found.selected.exists(_.path == add.path) == isKept)
      val checkpoint = spark.sql(s"CHECKPOINT delta.`$path`").head()
      assert(checkpoint.getAs[String]("mode") == "incremental", checkpoint)
      assert(newest(path).allFiles.collect().exists(_.path == add.path) == isKept)
    }
  }

  test("the same holds for the job that replays a large log") {
    for (isKept <- Seq(true, false)) {
      val transactions = Seq(7, 8).map(SetTransaction("app", _, Some(Long.MaxValue)))
      val (path, add) = withTwoActions("twice-by-job", isKept, transactions)
      spark.sql(s"CHECKPOINT delta.`$path` OPTIONS (mode = 'full')")
      assert(newest(path).allFiles.collect().exists(_.path == add.path) == isKept)
      assert(newest(path).setTransactions.map(_.version) == Seq(8))
    }
  }

  test("statistics of the checkpoint are found as it was written, not as the next one will be") {
    val path = newTable("flipped", 4)
    spark.sql(
      s"ALTER TABLE delta.`$path` SET TBLPROPERTIES " +
        "('delta.checkpoint.writeStatsAsJson' = 'false', 'delta.checkpoint.writeStatsAsStruct' = 'true')"
    )
    spark.sql(s"CHECKPOINT delta.`$path`")
    spark.sql(
      s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.checkpoint.writeStatsAsJson' = 'true')"
    )
    DeltaLog.clearCache()
    val found = byJob(path)
    assert(found.map(asText).sorted == newest(path).allFiles.collect().map(asText).toSeq.sorted)
  }
}

private object ActiveFilesSuite {
  val Setting = "spark.databricks.delta.snapshotPartitions"

  /** What tasks find, in the one process that there is. */
  val seen = new ConcurrentLinkedQueue[Option[String]]
}
