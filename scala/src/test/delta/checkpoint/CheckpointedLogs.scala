package org.apache.spark.sql.delta.upkeep.checkpoint

import java.io.File
import java.nio.file.Files

import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.delta.{
  Checkpoints,
  DeltaLog,
  LastCheckpointInfo,
  LazyCompleteCheckpointProvider,
  Snapshot,
  V2CheckpointProvider
}
import org.apache.spark.sql.delta.actions.{AddFile, RemoveFile}
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.read.CheckpointSchema
import org.apache.spark.sql.functions.{col, size, when}
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.{Clock, ManualClock}

/**
 * Checkpoints of copies of a log, compared with what Delta makes of the commits. A log has a history before a
 * copy of it gets checkpoints, so that one history does for both policies.
 */
private[upkeep] trait CheckpointedLogs { this: AnyFunSuite =>
  import CheckpointedLogs._
  import TestSession._
  import spark.implicits._

  /** Of the copies: ahead of all commits; a test moves it on to let tombstones and transactions expire. */
  protected val clock: ManualClock = new ManualClock(System.currentTimeMillis() + HourMs)

  /** Delta makes none of its own; both policies are allowed. */
  protected val bothPolicies: Seq[(String, String)] =
    Seq("delta.checkpointInterval" -> "1000", "delta.feature.v2Checkpoint" -> "supported")

  /** The mode and the reason of a checkpoint. */
  protected def checkpoint(path: String, options: String = ""): (String, String) =
    spark.sql(s"CHECKPOINT delta.`$path` $options").select("mode", "reason").as[(String, String)].head()

  protected def versionOf(path: String): Long = DeltaLog.forTable(spark, path).update().version

  /**
   * The modes and reasons of checkpoints of a table, at versions of its history, all of which hold the table.
   *
   * @param history a table with all these versions
   */
  protected def checkpointsAt(
      history: String,
      versions: Seq[Long],
      options: String
  ): Seq[(String, String)] = {
    val copy = emptyLog()
    versions.map { version =>
      addCommits(history, copy, version)
      val (mode, reason) = checkpoint(copy, options)
      info(s"$mode: $reason")
      assertHoldsTheTable(copy, history)
      (mode, reason)
    }
  }

  /** A table that has no commits yet, for [[addCommits]]. */
  protected def emptyLog(): String = {
    val copy = Files.createTempDirectory(root.toPath, "copy").toFile
    new File(copy, "_delta_log").mkdirs()
    copy.getAbsolutePath
  }

  /** Copies the commits of a table up to a version that the copy does not have, with their checksums. */
  protected def addCommits(from: String, to: String, upTo: Long): Unit = {
    copyLog(from, to) { name =>
      name.matches("\\d{20}\\.(json|crc)") && name.take(20).toLong <= upTo &&
      !new File(to, s"_delta_log/$name").exists()
    }
    open(to)
  }

  private def copyLog(
      from: String,
      to: String,
      below: String = "_delta_log"
  )(isKept: String => Boolean): Unit = {
    new File(to, below).mkdirs()
    new File(from, below).listFiles().foreach { file =>
      val name = file.getName
      if (file.isDirectory) copyLog(from, to, s"$below/$name")(isKept)
      else if (isKept(name) && !name.startsWith("."))
        Files.copy(file.toPath, new File(to, s"$below/$name").toPath)
    }
  }

  /** The table at its newest version, for all that open it later by this clock. */
  private def open(path: String): Snapshot = DeltaLog.forTable(spark, new Path(path), clock: Clock).update()

  /** What the commits come to: read by Delta, and written by it to a checkpoint of its own. */
  private case class Expected(state: Seq[String], checkpoint: Contents)

  private val expectations = mutable.Map.empty[(String, Long, Long), Expected]

  private def expected(path: String, version: Long): Expected = {
    val copy = emptyLog()
    copyLog(path, copy)(name => name.matches("\\d{20}\\.json") && name.take(20).toLong <= version)
    val snapshot = open(copy)
    val pointer =
      Checkpoints.writeCheckpoint(spark.asInstanceOf[ClassicSession], snapshot.deltaLog, snapshot, None)
    val state = stateOf(snapshot)
    snapshot.deltaLog.writeLastCheckpointFile(snapshot.deltaLog, pointer, addChecksum = true)
    DeltaLog.clearCache()
    Expected(state, contents(open(copy)))
  }

  /**
   * Asserts that a checkpoint of the newest version holds the same as the commits: read by Delta from it alone,
   * and row by row what Delta's own writer writes.
   *
   * @param history a table with all commits up to that version
   */
  protected def assertHoldsTheTable(path: String, history: String): Unit = {
    DeltaLog.clearCache()
    val snapshot = open(path)
    val version = snapshot.version
    assert(snapshot.checkpointProvider.version == version)
    val commits =
      expectations.getOrElseUpdate((history, version, clock.getTimeMillis()), expected(history, version))
    val ours = contents(snapshot)
    // Expired tombstones may stay until all of a sidecar or row group have expired.
    val unexpired = ours.files.filter { row =>
      row.isNullAt(1) || row.getStruct(1).getAs[Long]("deletionTimestamp") > snapshot.minFileRetentionTimestamp
    }
    assertSame(unexpired, commits.checkpoint.files, "rows of files")
    for (mine <- ours.schema; theirs <- commits.checkpoint.schema) assert(mine == theirs)
    for (mine <- ours.others; theirs <- commits.checkpoint.others) assertSame(mine, theirs, "other rows")
    assert(ours.pointer.version == version)
    assert(ours.pointer.numOfAddFiles == commits.checkpoint.pointer.numOfAddFiles)
    assert(ours.pointer.size == ours.rows)
    assertSame(stateFromCheckpointAlone(path, version), commits.state, "state")
  }

  protected def assertHoldsTheTable(path: String): Unit = assertHoldsTheTable(path, path)

  private def assertSame[T](ours: Seq[T], theirs: Seq[T], what: String): Unit =
    assert((ours.diff(theirs), theirs.diff(ours)) == (Nil, Nil), s"$what: of ours alone, of Delta's alone")

  private def stateFromCheckpointAlone(path: String, version: Long): Seq[String] = {
    val copy = emptyLog()
    copyLog(path, copy) { name =>
      val isOlder = name.matches("\\d{20}\\.json") && name.take(20).toLong < version
      !isOlder && !name.endsWith(".crc")
    }
    stateOf(open(copy))
  }

  private def stateOf(snapshot: Snapshot): Seq[String] = snapshot.stateDS.collect().toSeq.map(_.unwrap).map {
    // None and empty ones are the same, as below.
    case add: AddFile => add.copy(tags = Option(add.tags).filter(_.nonEmpty).orNull).json
    // A checkpoint has no statistics and tags of tombstones (protocol, 'Checkpoints').
    case remove: RemoveFile =>
      val values = Option(remove.partitionValues).filter(_.nonEmpty).orNull
      remove.copy(partitionValues = values, tags = null, stats = null).json
    case other => other.json
  }

  /**
   * Rows of a checkpoint, each with all columns.
   *
   * @param files   `add` and `remove`
   * @param schema  of these, where there are any
   * @param others  the other rows of a classic checkpoint; of a v2 one they are what Delta reads of it
   * @param rows    all that `_last_checkpoint` counts
   */
  private case class Contents(
      files: Seq[Row],
      schema: Option[StructType],
      others: Option[Seq[Row]],
      rows: Long,
      pointer: LastCheckpointInfo
  )

  private def contents(snapshot: Snapshot): Contents = {
    val pointer = snapshot.deltaLog.readLastCheckpointFile().get
    val provider = snapshot.checkpointProvider match {
      case unread: LazyCompleteCheckpointProvider => unread.underlyingCheckpointProvider
      case read => read
    }
    provider match {
      case v2: V2CheckpointProvider =>
        val sidecars = v2.sidecarFileStatuses.map(_.getPath)
        val files = Option.when(sidecars.nonEmpty)(parquet(sidecars).select(FileColumns.map(col): _*))
        val rows = files.toSeq.flatMap(_.collect())
        assert(v2.checkpointMetadata.version == snapshot.version)
        assert(v2.checkpointMetadata.sidecarNumActions.contains(rows.size.toLong))
        assert(v2.checkpointMetadata.numOfAddFiles.contains(rows.count(!_.isNullAt(0)).toLong))
        val others = snapshot.nonFileActions.size + v2.sidecarFiles.size + 1
        Contents(rows, files.map(_.schema), None, rows.size.toLong + others, pointer)
      case classic =>
        val all = parquet(classic.topLevelFiles.map(_.getPath)).select(CheckpointSchema.Columns.map(col): _*)
        val (files, others) =
          all.collect().toSeq.partition(row => FileColumns.exists(column => row.getAs[Row](column) != null))
        val rows = files.map(row => Row.fromSeq(FileColumns.map(row.getAs[Row])))
        val schema = StructType(FileColumns.map(all.schema(_)))
        Contents(rows, Some(schema), Some(others), rows.size.toLong + others.size, pointer)
    }
  }

  private def parquet(files: Seq[Path]): DataFrame = {
    // None and empty ones are the same: the JSON of commits is read to either.
    def withoutEmpty(action: String, map: String) = {
      val values = col(action)(map)
      when(col(action).isNotNull, col(action).withField(map, when(size(values) > 0, values)))
    }
    spark.read.option("mergeSchema", "true").parquet(files.map(_.toString): _*)
      .withColumn("add", withoutEmpty("add", "tags"))
      .withColumn("remove", withoutEmpty("remove", "partitionValues"))
  }
}

private[upkeep] object CheckpointedLogs {
  private val FileColumns = Seq("add", "remove")

  val HourMs: Long = 3600L * 1000
}
