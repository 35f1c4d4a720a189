package org.apache.spark.sql.delta.upkeep.table

import java.io.File
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepException

import org.apache.commons.io.FileUtils
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession

/** Files of a table that are not what they should be: a command says which, and leaves all files as they were. */
class DamagedTableSuite extends AnyFunSuite {
  import TestSession._
  import spark.implicits._

  private val optimize = "OPTIMIZE %s"
  private val zOrder = "OPTIMIZE %s ZORDER BY (id)"
  private val cleanUp = "CLEANUP LOG %s"
  private val writers = Seq(optimize, "CHECKPOINT %s", cleanUp, "MAINTAIN %s")
  private val all = writers :+ "DESCRIBE HEALTH %s"

  /** Runs it on a table whose log is older than its retention. */
  private def run(statement: String, path: String): Unit = {
    val start = System.currentTimeMillis() - 40L * 24 * 3600 * 1000
    logFiles(path, "").foreach { file =>
      val version = file.getFileName.toString.takeWhile(_.isDigit).toLongOption
      file.toFile.setLastModified(start + version.getOrElse(0L) * 60000)
    }
    DeltaLog.clearCache()
    spark.sql(statement.format(s"delta.`$path`")).collect()
    ()
  }

  /** Every file of the table with its bytes. */
  private def contents(path: String): Map[String, Seq[Byte]] =
    Files.walk(new File(path).toPath).iterator.asScala.filter(Files.isRegularFile(_)).map { file =>
      file.toString -> Files.readAllBytes(file).toSeq
    }.toMap

  private def messages(failure: Throwable): String =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).map(_.toString).mkString("\n")

  /** Asserts that the statement fails, says `what`, and leaves all files as they were, and no others. */
  private def assertFails(statement: String, path: String, what: String): Throwable = {
    val before = contents(path)
    val failure = intercept[Exception](run(statement, path))
    assert(messages(failure).contains(what), statement)
    assert(contents(path) == before, statement)
    failure
  }

  /** The same of a data file: the error itself names it, and the version that was read. */
  private def assertNames(statement: String, path: String, file: Path, condition: String): Unit = {
    val version = DeltaLog.forTable(spark, path).update().version
    assertFails(statement, path, file.getFileName.toString) match {
      case ours: UpkeepException =>
        assert(ours.getCondition == s"DELTA_UPKEEP.$condition" && ours.getSqlState == "58030", statement)
        assert(ours.getMessage.contains(file.getFileName.toString), ours.getMessage)
        assert(ours.getMessage.toLowerCase.contains(s"version $version of"), ours.getMessage)
        assert(ours.getMessage.contains("RESTORE TABLE"), ours.getMessage)
      case other => fail(statement, other)
    }
  }

  /** Asserts that the footers alone tell why rows of one file have to be read. */
  private def assertRefused(path: String, what: String): Unit = {
    val plan = spark.sql(s"OPTIMIZE delta.`$path` DRY RUN").selectExpr("inline(bins)")
    val tiers = plan.select("tier", "reason").as[(String, String)].collect()
    assert(tiers.map(_._1).toSeq == Seq("copy", "rows") && tiers.last._2.contains(what), tiers.mkString)
  }

  private def isOfLog(file: String): Boolean = file.contains("_delta_log")

  private def log(path: String, name: String): Path = new File(path, s"_delta_log/$name").toPath

  private def commit(path: String, version: Int): Path = log(path, f"$version%020d.json")

  private def logFiles(path: String, end: String): Seq[Path] =
    Files.walk(log(path, "")).iterator.asScala
      .filter(file => Files.isRegularFile(file) && file.getFileName.toString.endsWith(end)).toSeq

  private type Damage = Array[Byte] => Array[Byte]

  private def change(file: Path)(by: Damage): Unit = {
    Files.write(file, by(Files.readAllBytes(file)))
    // Hadoop's own checksum would find it out before anyone else.
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    ()
  }

  private def flip(bytes: Array[Byte], from: Int): Array[Byte] = bytes.zipWithIndex.map { case (byte, i) =>
    if (i >= from && i < from + 36) (~byte).toByte else byte
  }

  private val cut: Damage = bytes => bytes.take(bytes.length / 2)
  private val empty: Damage = _ => Array.emptyByteArray
  private val pages: Damage = flip(_, 4)
  private val footer: Damage = bytes => {
    val length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8)
    flip(bytes, bytes.length - 8 - length)
  }

  for {
    (tier, statement, settings, damages) <- Seq(
      ("splice", optimize, Nil, Seq(cut, empty, footer, pages)),
      (
        "transcode",
        optimize,
        Seq("parquet.writer.version" -> "v2", "parquet.enable.dictionary" -> "false"),
        Seq(cut, pages)
      ),
      // Pages that are copied are not looked at.
      ("copy", optimize, Seq("parquet.block.size" -> "100"), Seq(cut, footer)),
      ("gather", zOrder, Nil, Seq(cut, empty, footer, pages)),
      ("rows", zOrder, Seq("spark.deltaUpkeep.optimize.engine" -> "rows"), Seq(cut, empty, footer, pages))
    )
  } test(s"a damaged data file: $tier") {
    withConf(settings: _*) {
      val path = new File(root, s"damagedData-$tier").getAbsolutePath
      spark.range(0, 400, 1, 4).write.format("delta").save(path)
      val plan = spark.sql(s"${statement.format(s"delta.`$path`")} DRY RUN")
      assert(plan.selectExpr("explode(bins.tier)").as[String].collect().toSet == Set(tier))
      val file = new File(path, DeltaLog.forTable(spark, path).update().allFiles.head().path).toPath
      val whole = Files.readAllBytes(file)
      damages.foreach { damage =>
        change(file)(damage)
        assertNames(statement, path, file, "DATA_FILE_DAMAGED")
        if (tier == "splice") assertNames("MAINTAIN %s", path, file, "DATA_FILE_DAMAGED")
        if (tier == "copy" && damage == footer) assertRefused(path, file.getFileName.toString)
        else if (tier == "copy") assertFails(s"$statement DRY RUN", path, file.getFileName.toString)
        change(file)(_ => whole)
      }
      Files.delete(file)
      assertNames(statement, path, file, "DATA_FILE_MISSING")
      if (tier != "rows") assertNames(s"$statement DRY RUN", path, file, "DATA_FILE_MISSING")
      if (tier == "splice") assertNames("MAINTAIN %s", path, file, "DATA_FILE_MISSING")
      Files.write(file, whole)
      run(statement, path)
      assert(ids(path) == (0 until 400))
    }
  }

  test("a missing data file of which REORG looks at the footer") {
    val path = new File(root, "missingReorg").getAbsolutePath
    spark.range(0, 20, 1, 1).write.format("delta").option("delta.enableDeletionVectors", "true").save(path)
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")
    val file = new File(path, DeltaLog.forTable(spark, path).update().allFiles.head().path).toPath
    Files.delete(file)
    assertNames("REORG TABLE %s APPLY (PURGE)", path, file, "DATA_FILE_MISSING")
  }

  test("a commit after the last checkpoint: cut off, and with a blank line") {
    val path = new File(root, "tailOfLog").getAbsolutePath
    for (i <- 0 to 1) {
      spark.range(i.toLong, i + 1L).write.format("delta").mode("append").save(path)
      if (i == 0) spark.sql(s"CHECKPOINT delta.`$path`").collect()
    }
    val commit = new File(path, f"_delta_log/${1}%020d.json").toPath
    val whole = Files.readAllBytes(commit)
    change(commit)(cut)
    assertFails("CHECKPOINT %s", path, commit.getFileName.toString) match {
      case ours: UpkeepException => assert(ours.getCondition == "DELTA_UPKEEP.LOG_DAMAGED")
      case other => fail(other)
    }
    change(commit)(_ => '\n'.toByte +: whole :+ '\n'.toByte)
    run("CHECKPOINT %s", path)
    run(optimize, path)
    assert(ids(path) == Seq(0L, 1L))
  }

  test(
    "a page that is not what its checksum says is told, unless rows are to be rewritten as Spark reads them"
  ) {
    withConf("parquet.compression" -> "UNCOMPRESSED", "spark.sql.parquet.compression.codec" -> "none") {
      val path = new File(root, "damagedValue").getAbsolutePath
      spark.range(0, 400, 1, 4).selectExpr("id", "concat('text ', id) AS s").write.format("delta").save(path)
      val file = new File(path, DeltaLog.forTable(spark, path).update().allFiles.head().path).toPath
      change(file) { bytes =>
        bytes.updated(bytes.indexOfSlice("text ".getBytes.toSeq), 'T'.toByte)
      }
      val before = contents(path).filter(file => isOfLog(file._1))
      val failure = intercept[UpkeepException](run(optimize, path))
      assert(failure.getCondition == "DELTA_UPKEEP.DATA_FILE_DAMAGED")
      assert(
        failure.getMessage.contains(file.getFileName.toString) && failure.getMessage.contains("column s ")
      )
      assert(contents(path).filter(file => isOfLog(file._1)) == before)
      withConf("spark.deltaUpkeep.optimize.engine" -> "rows")(run(optimize, path))
      assert(spark.read.format("delta").load(path).where("s LIKE 'T%'").count() == 1)
    }
  }

  /** A copy of a table, so that one history serves many damages. */
  private def copy(path: String): String = {
    val to = Files.createTempDirectory(root.toPath, "damaged")
    FileUtils.copyDirectory(new File(path), to.toFile)
    to.toString
  }

  private lazy val commits = newTable("damagedCommits", 4, "delta.checkpointInterval" -> "1000")

  test("an action that nobody knows is passed over") {
    for (statement <- writers) {
      val path = copy(commits)
      change(commit(path, 2))(_ ++ "{\"strange\":{\"path\":\"x\",\"size\":[1]}}\n".getBytes)
      run(statement, path)
      run("CHECKPOINT %s", path)
      assert(idsFromCheckpoint(path) == Seq(1, 2, 3, 4), statement)
    }
  }

  private def assertLogDamaged(statement: String, path: String, what: String): Unit =
    assertFails(statement, path, what) match {
      case ours: UpkeepException =>
        assert(ours.getCondition == "DELTA_UPKEEP.LOG_DAMAGED" && ours.getSqlState == "58030", statement)
        assert(ours.getMessage.contains(what) && ours.getMessage.contains("Restore the file"), statement)
      case other => fail(statement, other)
    }

  test("a commit that is missing") {
    for (statement <- all) {
      val path = copy(commits)
      Files.delete(commit(path, 2))
      assertLogDamaged(statement, path, "DELTA_VERSIONS_NOT_CONTIGUOUS")
    }
    for (statement <- all) {
      val path = copy(commits)
      Files.delete(commit(path, 0))
      assertLogDamaged(statement, path, commit(path, 0).getFileName.toString)
    }
  }

  test("a log without metadata, without a protocol, or with metadata that lack a schema") {
    for (statement <- all; action <- Seq("metaData", "protocol", "schemaString")) {
      val path = copy(commits)
      logFiles(path, ".crc").foreach(Files.delete)
      change(commit(path, 0)) { bytes =>
        val lines = new String(bytes).linesIterator.toSeq
        val kept =
          if (action != "schemaString") lines.filterNot(_.startsWith(s"{\"$action\""))
          else
            lines.map(line => if (line.startsWith("{\"metaData\"")) "{\"metaData\":{\"id\":\"x\"}}" else line)
        kept.mkString("", "\n", "\n").getBytes
      }
      assertLogDamaged(statement, path, if (action == "protocol") "protocol" else "")
    }
  }

  test("a commit that is cut off shows as such where Delta reads it first") {
    for (statement <- all) {
      val path = copy(commits)
      logFiles(path, ".crc").foreach(Files.delete)
      change(commit(path, 2))(cut)
      assertLogDamaged(statement, path, commit(path, 2).getFileName.toString)
    }
  }

  test("a commit that is cut off, or damaged, is an error that names it") {
    for (statement <- writers if statement != cleanUp; damage <- Seq(cut, pages)) {
      val path = copy(commits)
      change(commit(path, 2))(damage)
      logFiles(path, ".crc").foreach(Files.delete)
      assertFails(statement, path, commit(path, 2).getFileName.toString)
    }
  }

  test("a commit that has no bytes adds nothing, unless checksums say otherwise") {
    val path = copy(commits)
    change(commit(path, 2))(empty)
    assertFails("CHECKPOINT %s", path, "CHECKPOINT_MISMATCH")
    logFiles(path, ".crc").foreach(Files.delete)
    run("CHECKPOINT %s", path)
    assert(idsFromCheckpoint(path) == Seq(1, 3, 4))
  }

  for (policy <- Seq("classic", "v2")) {

    /** A checkpoint of version 3, whose Parquet files are named too, another of version 4, and a commit since. */
    lazy val (checkpoints, first) = {
      val path = newTable(s"damagedCheckpoints-$policy", 3, "delta.checkpointPolicy" -> policy)
      run("CHECKPOINT %s", path)
      val files = logFiles(path, ".parquet").map(_.getFileName).toSet
      append(path, 100)
      run("CHECKPOINT %s OPTIONS (mode = 'full')", path)
      append(path, 101)
      // Only the checksum of version 3 is left, which shows that its checkpoint is whole.
      logFiles(path, ".crc").filterNot(_.toString.contains("3.crc")).foreach(Files.delete)
      (path, files)
    }

    def damagedCopy(damage: Damage)(isDamaged: Path => Boolean): String = {
      val path = copy(checkpoints)
      logFiles(path, ".parquet").filter(isDamaged).foreach(change(_)(damage))
      path
    }

    test(s"a cleanup stands on no $policy checkpoint that is damaged") {
      for (damage <- Seq(cut, empty, footer)) {
        val second = damagedCopy(damage)(file => !first(file.getFileName))
        run(cleanUp, second)
        assert(!Files.exists(commit(second, 2)) && Files.exists(commit(second, 3)))
        val both = damagedCopy(damage)(_ => true)
        run(cleanUp, both)
        assert((0 to 5).forall(version => Files.exists(commit(both, version))))
        for (path <- Seq(second, both)) {
          run("CHECKPOINT %s", path)
          assert(idsFromCheckpoint(path) == Seq(1, 2, 3, 100, 101))
        }
      }
    }

    test(s"no command changes a table whose only $policy checkpoint is damaged or lacks a file") {
      for (statement <- writers if statement != cleanUp; isMissing <- Seq(true, false)) {
        val path = damagedCopy(cut)(_ => true)
        if (isMissing) logFiles(path, ".parquet").foreach(Files.delete)
        Files.delete(commit(path, 1))
        assertFails(statement, path, "") match {
          case ours: UpkeepException =>
            val condition = if (statement.startsWith("CHECKPOINT") && policy == "v2") "CHECKPOINT" else "LOG"
            assert(ours.getCondition == s"DELTA_UPKEEP.${condition}_DAMAGED", statement)
          case other => fail(statement, other)
        }
      }
    }

    test(s"a $policy _last_checkpoint that is damaged") {
      for ((text, statement) <- Seq("{" -> cleanUp, "{\"version\":900,\"size\":7}" -> "MAINTAIN %s")) {
        val path = copy(checkpoints)
        change(log(path, "_last_checkpoint"))(_ => text.getBytes)
        run(statement, path)
        DeltaLog.clearCache()
        assert(ids(path) == Seq(1, 2, 3, 100, 101), statement)
      }
    }
  }

  /** The table's ids when no commit before the newest checkpoint is there. */
  private def idsFromCheckpoint(path: String): Seq[Long] = {
    DeltaLog.clearCache()
    val version = DeltaLog.forTable(spark, path).update().checkpointProvider.version
    (0 until version.toInt).foreach(number => Files.deleteIfExists(commit(path, number)))
    logFiles(path, ".crc").foreach(Files.delete)
    DeltaLog.clearCache()
    ids(path)
  }
}
