package org.apache.spark.sql.delta.upkeep.vacuum

import java.io.File
import java.nio.file.Files

import scala.util.Random

import io.deltaupkeep.plan.vacuum.{VacuumMode, VacuumSettings}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

class TableVacuumSuite extends AnyFunSuite {
  import TestSession._

  private def handle(path: String): DeltaHandle = DeltaHandle.of(spark, newest(path), catalogTable = None)

  private def vacuum(path: String, mode: VacuumMode, hours: Int = 0): TableVacuum = TableVacuum(
    handle(path),
    VacuumSettings(Some(hours * 3600000L), Some(mode), Long.MaxValue, Long.MaxValue, threads = 4)
  )

  private def ids(path: String): Set[Long] =
    spark.read.format("delta").load(path).select("id").collect().map(_.getLong(0)).toSet

  for (mode <- Seq(VacuumMode.Full, VacuumMode.Log))
    test(s"files that RESTORE brings back between plan and deletion stay, by ${mode.name}") {
      val path = newTable(s"restored-${mode.name}", 4)
      spark.sql(s"DELETE FROM delta.`$path` WHERE p = 0")
      Thread.sleep(5)
      val planned = vacuum(path, mode)
      assert(planned.plan.deletions.count(!_.isDirectory) == 2)
      spark.sql(s"RESTORE delta.`$path` TO VERSION AS OF 4")
      val result = planned.execute()
      assert(result.reasons.exists(_.reason == "named by a commit that came meanwhile"))
      assert(result.filesDeleted.contains(0L))
      assert(ids(path) == Set(1, 2, 3, 4))
    }

  test("names are compared as locations, however the log spells them") {
    val root = new Path("file:/lake/my table")
    val names = new FileNames(root, root)
    val cases = Seq(
      "p=1/a.parquet" -> Some("p=1/a.parquet"),
      "p=a%2520b/x%20y.parquet" -> Some("p=a%20b/x y.parquet"),
      "file:///lake/my%20table/a" -> Some("a"),
      "file:/lake/my%20table/p=1//a" -> Some("p=1/a"),
      "hdfs://other:8020/lake/my%20table/a" -> Some("a"),
      "./p=1/a" -> Some("p=1/a"),
      "p=%C3%BC/a" -> Some("p=ü/a"),
      "a b %.parquet" -> Some("a b %.parquet"),
      "file:/lake/my%20table2/a" -> None,
      "s3a://other/a" -> None
    )
    for ((path, name) <- cases) assert(names.data(path) == name, path)
    assert(names.own("hdfs://other:8020/lake/my%20table/a").isEmpty && names.own("p=1/a").contains("p=1/a"))
    assert(names.own("file:/lake/my%20table/a").isEmpty && names.own("../a").isEmpty)
    assert(names.stores("hdfs://other:8020/x/a", None) == Seq("hdfs://other:8020/"))
    assert(names.stores("file:///lake/x", None).isEmpty && names.stores("p=10:30/a", None).isEmpty)
    // Only one of these is a location.
    assert(names.stores("a", Some("u" -> "x0:(n+<8dp[W<q4P4Mo]X$")).isEmpty)
    assert(names.stores("a", Some("p" -> "s3a://other/v.bin")) == Seq("s3a://other/"))
    assert(names.own("x:y").contains("x:y"))
    assert(names.below(new Path(root, "p=ü/x y%20z")).contains("p=ü/x y%20z"))
    assert(names.ofVector("u", "ab^-aqEH.-t@S}K{vb[*k^").exists(_.startsWith("ab/deletion_vector_")))
    assert(names.ofVector("p", "s3a://other/v.bin").isEmpty && names.ofVector("i", "wi5b=").isEmpty)
  }

  /** The versions of a table that can be read, with their rows. */
  private def versions(path: String, from: Long): Map[Long, Set[Long]] =
    (from to newest(path).version).map { version =>
      val rows = spark.read.format("delta").option("versionAsOf", version.toString).load(path)
      version -> rows.select("id").collect().map(_.getLong(0)).toSet
    }.toMap

  test("random histories: what versions inside the retention need stays, by both ways and again") {
    val seed = System.nanoTime()
    val random = new Random(seed)
    val path = newTable("histories", 3, "delta.enableDeletionVectors" -> "true")
    def step(i: Int): Unit = random.nextInt(6) match {
      case 0 => spark.sql(s"DELETE FROM delta.`$path` WHERE id % 5 = ${random.nextInt(5)}")
      case 1 => spark.sql(s"UPDATE delta.`$path` SET id = id + 1000 WHERE id % 3 = ${random.nextInt(3)}")
      case 2 => spark.sql(s"OPTIMIZE delta.`$path`")
      case 3 => spark.sql(s"CHECKPOINT delta.`$path`")
      case 4 =>
        val orphan = new File(path, s"p=${random.nextInt(3)}/orphan-$i")
        orphan.getParentFile.mkdirs()
        Files.write(orphan.toPath, Array[Byte](1))
        ()
      case _ => append(path, i)
    }
    for (round <- 1 to 4) {
      (1 to 6).foreach(i => step(10 * round + i))
      Thread.sleep(5)
      val mode = if (random.nextBoolean()) VacuumMode.Full else VacuumMode.Log
      val ran = vacuum(path, mode)
      val newestBefore = newest(path).version
      val expected = versions(path, newestBefore)
      val result = ran.execute()
      assert(
        versions(path, newestBefore).filter(_._1 == newestBefore) == expected,
        s"seed $seed, ${mode.name}"
      )
      assert(result.oldestTimeTravelVersion.forall(_ <= newestBefore), s"seed $seed")
      if (mode == VacuumMode.Full)
        assert(vacuum(path, mode).plan.deletions.forall(_.isDirectory), s"seed $seed")
    }
  }
}
