package org.apache.spark.sql.delta.upkeep.checkpoint

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, File}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, StandardCopyOption}

import io.deltaupkeep.{FuzzSeeds, UpkeepException}

import org.apache.hadoop.fs.Path
import org.apache.parquet.format.Util
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.{FileHistory, RandomHistory, TestSession}
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFooter, CheckpointRows}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.functions.{col, udf, when}
import org.apache.spark.sql.types.StructType

/** A checkpoint that builds on the last one holds what the commits say. */
class IncrementalCheckpointSuite extends AnyFunSuite with CheckpointedLogs {
  import TestSession._

  private val v2 = Seq(
    "delta.checkpointPolicy" -> "v2",
    "delta.enableDeletionVectors" -> "true",
    // Delta makes none of its own.
    "delta.checkpointInterval" -> "1000"
  )

  for (seed <- FuzzSeeds(1)) {
    lazy val history = new RandomHistory(seed, bothPolicies)

    def assertHold(policy: String, options: String): Unit = withClue(FuzzSeeds.clue(seed)) {
      val modes =
        checkpointsAt(history.path, history.stages, s"OPTIONS (policy = '$policy'$options)").map(_._1)
      assert(modes.head == "full" && modes.contains("incremental"))
      assert(modes(2) == "full" || !history.changesSchema)
      ()
    }

    test(s"histories, classic: seed $seed") {
      assertHold("classic", "")
      val full = checkpointsAt(history.path, history.stages.takeRight(1), "OPTIONS (mode = 'full')")
      assert(full.map(_._1) == Seq("full"))
    }

    test(s"histories, v2: seed $seed") {
      val format = if (seed % 2 == 0) "json" else "parquet"
      assertHold("v2", s", partSize = 4, format = '$format'")
    }
  }

  private lazy val fewFiles = new FileHistory(seed = 1, bothPolicies)

  for (policy <- Seq("classic", "v2"))
    test(s"commits that touch few files, $policy") {
      val (modes, reasons) =
        checkpointsAt(fewFiles.path, fewFiles.stages, s"OPTIONS (policy = '$policy')").unzip
      assert(modes == "full" +: Seq.fill(modes.size - 1)("incremental"))
      assert(reasons.exists(_.matches(".* [1-9]\\d* of \\d+ (row groups|sidecars) kept")))
    }

  test("of a classic checkpoint, row groups stay that no commit touches") {
    val path = newTable("rowGroups", 6, "delta.checkpointInterval" -> "1000")
    assert(checkpoint(path)._1 == "full")
    append(path, 101)
    assert(checkpoint(path)._2.contains("1 change, 1 of 2 row groups kept"))
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 101")
    // One of six files and one of a file, which is written again; so are the other actions, a third.
    assert(checkpoint(path)._2.contains("1 change, 1 of 3 row groups kept"))
    assertHoldsTheTable(path)
  }

  test("appends keep every full sidecar, and the next checkpoint asks only Bloom filters") {
    val path = newTable("appends", 8, v2: _*)
    assert(checkpoint(path)._1 == "full")
    append(path, 100)
    val (mode, reason) = checkpoint(path)
    assert(mode == "incremental" && reason.contains("1 change, 1 of 1 sidecar kept"), reason)
    append(path, 101)
    // The two of one file each become one of two.
    assert(checkpoint(path)._2.contains("1 change, 1 of 2 sidecars kept"))
    assertHoldsTheTable(path)
  }

  test("a sidecar tells how large the files are that it adds, whether the driver or a job has written it") {
    val path = newTable("sums", 8, v2: _*)
    val reasons = Seq("", "", "OPTIONS (mode = 'full')").zipWithIndex.map { case (options, id) =>
      append(path, 100 + id)
      checkpoint(path, options)._2
    }
    assert(reasons.head.endsWith("on the driver") && reasons.last.contains("by a Spark job"), reasons)
    val directory = new Path(path, "_delta_log/_sidecars")
    val conf = spark.sparkContext.hadoopConfiguration
    val sidecars = directory.getFileSystem(conf).listStatus(directory)
    assert(sidecars.length > 2)
    sidecars.foreach { file =>
      CheckpointFooter.read(file, conf) { footer =>
        val sum = footer.measured(footer.whole).addBytes
        assert(footer.keyValues.get(CheckpointFooter.AddBytes).contains(sum.toString) && sum > 0)
      }
    }
    assertHoldsTheTable(path)
  }

  test("a sidecar is replaced once all its tombstones have expired") {
    val path = newTable("tombstones", 3, v2: _*)
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")
    checkpoint(path)
    val conf = spark.sparkContext.hadoopConfiguration
    val directory = new Path(path, "_delta_log/_sidecars")
    val file = directory.getFileSystem(conf).listStatus(directory).head
    def isExpired(unexpired: Long) =
      CheckpointFooter.read(file, conf)(footer => footer.isExpired(footer.whole, unexpired))
    assert(!isExpired(unexpired = 0) && isExpired(unexpired = Long.MaxValue))
  }

  test("sidecars without Bloom filters, such as Delta's, are looked into") {
    val path = newTable("foreign", 3, "delta.checkpointPolicy" -> "v2", "delta.checkpointInterval" -> "3")
    append(path, 100)
    assert(checkpoint(path)._2.contains("1 change, 1 of 1 sidecar kept"))
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")
    assert(checkpoint(path)._2.contains("1 change, 0 of 2 sidecars kept"))
    assertHoldsTheTable(path)
  }

  /** Spells the paths in a sidecar as another writer may, and names the new sidecar. */
  private def respell(path: String)(spell: String => String): Unit = {
    val log = new File(path, "_delta_log")
    val topLevel = log.listFiles().find(_.getName.matches("\\d{20}\\.checkpoint\\..*\\.json")).get.toPath
    val sidecar = new File(log, "_sidecars").listFiles().find(_.getName.endsWith(".parquet")).get
    val written = new File(root, s"respelled-${sidecar.getName}")
    val respelled = udf(spell)
    spark.read.parquet(sidecar.toString)
      .withColumn(
        "add",
        when(col("add.path").isNotNull, col("add").withField("path", respelled(col("add.path"))))
      )
      .coalesce(1).write.parquet(written.toString)
    val size = sidecar.length
    val part = written.listFiles().find(_.getName.endsWith(".parquet")).get
    Files.copy(part.toPath, sidecar.toPath, StandardCopyOption.REPLACE_EXISTING)
    val text = Files.readString(topLevel)
    assert(text.contains(s"\"sizeInBytes\":$size"))
    Files.writeString(topLevel, text.replace(s"\"sizeInBytes\":$size", s"\"sizeInBytes\":${part.length}"))
    Seq(topLevel, sidecar.toPath).foreach { file =>
      Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    }
    new File(log, "_last_checkpoint").delete()
    DeltaLog.clearCache()
  }

  for (
    (how, spell) <- Seq[(String, String => String)](
      ("x//y", _.replace("/", "//")),
      ("./x/y", "./" + _)
    )
  )
    test(s"a path that another writer has spelled as $how is the file that a commit deletes") {
      val path = newTable(s"respelled-${how.take(3).hashCode}", 3, v2: _*)
      checkpoint(path)
      respell(path)(spell)
      assert(ids(path) == Seq(1, 2, 3))
      spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")
      assert(checkpoint(path)._2.contains("1 change, 0 of 1 sidecar kept"))
      assertHoldsTheTable(path)
    }

  test("Bloom filters of few paths are small, also where parquet-java does not find their size") {
    val path = newTable("fewPaths", 4, "delta.checkpointInterval" -> "1000")
    // Only a Spark job writes them with parquet-java.
    checkpoint(path)
    append(path, 100)
    assert(checkpoint(path, "OPTIONS (mode = 'full')")._1 == "full")
    assert(new File(path, f"_delta_log/${5}%020d.checkpoint.parquet").length < (64 << 10))
    val settings = CheckpointFooter.bloomFilters(actions = 5, areAdaptive = false)
    assert(settings("parquet.bloom.filter.expected.ndv#add.path") == "5")
    assert(!CheckpointFooter.bloomFilters(actions = 5, areAdaptive = true).exists(_._1.contains(".ndv")))
  }

  test("row groups are found by their numbers, whatever their offsets say") {
    val path = newTable("offsets", 3, "delta.checkpointInterval" -> "1000")
    checkpoint(path)
    append(path, 100)
    checkpoint(path)
    val conf = spark.sparkContext.hadoopConfiguration
    val whole = new File(path, f"_delta_log/${4}%020d.checkpoint.parquet").toPath
    val copy = new File(root, "wrong-offsets.parquet").toPath
    val bytes = Files.readAllBytes(whole)
    val length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8)
    val start = bytes.length - 8 - length
    val footer = Util.readFileMetaData(new ByteArrayInputStream(bytes, start, length))
    footer.getRow_groups.forEach { group =>
      group.setFile_offset(group.getFile_offset + bytes.length)
      group.setTotal_compressed_size(group.getTotal_compressed_size + 4L * bytes.length)
      ()
    }
    val written = new ByteArrayOutputStream
    Util.writeFileMetaData(footer, written)
    val end = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(written.size).put("PAR1".getBytes)
    Files.write(copy, bytes.take(start) ++ written.toByteArray ++ end.array)
    val rows = new CheckpointRows(
      StructType(Seq("add").map(Action.logSchema(_))),
      spark.asInstanceOf[ClassicSession],
      conf
    )
    def addsOf(file: File): Int = {
      var adds = 0
      val status = new Path(file.toString).getFileSystem(conf).getFileStatus(new Path(file.toString))
      rows.foreach(status, 0 until footer.getRow_groups.size)(row => if (!row.isNullAt(0)) adds += 1)
      adds
    }
    assert(footer.getRow_groups.size > 1)
    assert(Seq(whole, copy).map(file => addsOf(file.toFile)) == Seq(4, 4))
  }

  test("metadata that changed makes a full checkpoint, with the reason") {
    val path = newTable("evolved", 2, v2: _*)
    checkpoint(path)
    spark.sql(s"ALTER TABLE delta.`$path` ADD COLUMN extra STRING")
    val (mode, reason) = checkpoint(path)
    assert(mode == "full" && reason.contains("metadata changed"), reason)
    assertHoldsTheTable(path)
  }

  test("metadata that RESTORE says again is no change") {
    val path = newTable("restored", 3, v2: _*)
    checkpoint(path)
    spark.sql(s"RESTORE TABLE delta.`$path` TO VERSION AS OF 2")
    // Delta has made one of its own.
    val log = new File(path, "_delta_log")
    log.listFiles().filter(_.getName.startsWith("00000000000000000004.checkpoint")).foreach(_.delete())
    DeltaLog.clearCache()
    assert(checkpoint(path)._1 == "incremental")
    assertHoldsTheTable(path)
  }

  for (counted <- Seq("numFiles", "tableSizeBytes"))
    test(s"a checkpoint of other files than the checksum counts is not published: $counted") {
      val path = newTable(s"mismatch-$counted", 5, v2: _*)
      checkpoint(path)
      append(path, 100)
      val checksum = new File(path, "_delta_log/00000000000000000006.crc").toPath
      Files.writeString(checksum, Files.readString(checksum).replace(s"\"$counted\":", s"\"$counted\":1"))
      Files.delete(checksum.resolveSibling(s".${checksum.getFileName}.crc"))
      DeltaLog.clearCache()
      val e = intercept[UpkeepException](checkpoint(path))
      assert(e.getCondition == "DELTA_UPKEEP.CHECKPOINT_MISMATCH")
      assert(!new File(path, "_delta_log").list().exists(_.startsWith("00000000000000000006.checkpoint")))
    }
}
