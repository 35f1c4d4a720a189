package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.{Column, DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.delta.{DeltaLogFileIndex, Snapshot}
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.delta.upkeep.read.CheckpointSchema
import org.apache.spark.sql.delta.upkeep.spark.FirstOfRun
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi
import org.apache.spark.sql.functions._

/**
 * Replays the state of a table from its last checkpoint and the commits since, in one Spark job. Actions are
 * distributed by path and sorted, and the newest one for each file, application and domain is kept (protocol,
 * 'Action Reconciliation'). Sorting spills to disk, so memory does not grow with the table.
 */
private[upkeep] final class JobReplay(session: SparkSession, snapshot: Snapshot) {
  import JobReplay._

  private val deltaLog = snapshot.deltaLog
  private val canonical = deltaLog.getCanonicalPathUdf()

  /**
   * All actions that a checkpoint holds, with the columns of [[CheckpointSchema]].
   *
   * @param parts     number of partitions of the result; the Murmur3 hash of a path selects its partition
   * @param unexpired milliseconds since the epoch: older tombstones are left out
   */
  def actions(parts: Int, unexpired: Long = snapshot.minFileRetentionTimestamp): DataFrame = {
    val sorted = everything
      .select(
        FileKey.path(coalesce(col("add.path"), col("remove.path")), canonical).as(Path) +: Detail +:
          col(Version) +: col(Line) +: CheckpointSchema.Columns.map(col): _*
      )
      .where(col(Path).isNotNull || col(DetailName).isNotNull)
      .repartition(parts, col(Path))
      // Paths have long common prefixes. Comparing a number first settles most comparisons.
      .select(xxhash64(col(Path), col(DetailName)).as(Hash), col("*"))
      .sortWithinPartitions(col(Hash), col(Path), col(DetailName), col(Version).desc, col(Line).desc)
    sorted
      .where(FirstOfRun(col(Hash), col(Path), col(DetailName)))
      .where(col("remove.path").isNull || col("remove.deletionTimestamp") > unexpired)
      .where(snapshot.minSetTransactionRetentionTimestamp.fold(lit(true)) { oldest =>
        col("txn.appId").isNull || col("txn.lastUpdated") > oldest
      })
      .where(col("domainMetadata.domain").isNull || !col("domainMetadata.removed"))
      .withColumn("add", atItsPath(col("add")))
      .withColumn("remove", atItsPath(col("remove")))
  }

  /**
   * The files, with their paths in Delta's spelling.
   *
   * @param tasks in which they are found
   */
  def adds(tasks: Int): Dataset[AddFile] = {
    import org.apache.spark.sql.delta.implicits._
    actions(tasks).where(col("add.path").isNotNull).select("add.*").as[AddFile]
  }

  /**
   * Every action of the checkpoint and the commits, with its version. In a commit, the last action for a file counts,
   * as in Delta. Pieces of a large commit are in the partitions in their order.
   */
  private def everything: DataFrame = {
    val commits = DeltaLogFileIndex(DeltaLogFileIndex.COMMIT_FILE_FORMAT, snapshot.logSegment.deltas)
      .map(deltaLog.loadIndex(_, Action.logSchema).withColumn(Line, monotonically_increasing_id()))
    val checkpoint = DeltaApi.current.checkpointActions(session, snapshot).map { actions =>
      // If it has statistics only as a struct, they are converted to JSON.
      val add = col("add").withField("stats", col(Snapshot.ADD_STATS_TO_USE_COL_NAME))
      actions.withColumn("add", when(col("add.path").isNotNull, add)).withColumn(Line, lit(0L))
    }
    (checkpoint.toSeq ++ commits).map(_.select(columns: _*)).reduce(_ union _)
  }

  private def atItsPath(action: Column): Column = when(
    action("path").isNotNull,
    action.withField("path", col(Path)).withField("dataChange", lit(false))
  )
}

private[upkeep] object JobReplay {

  /** Each task reads 8 MiB of the log: one costs tens of milliseconds, whatever it reads. */
  def tasksFor(logBytes: Long): Int = math.max(1L, math.min(200L, logBytes / (8L << 20))).toInt

  private val Path = "canonicalPath"
  private val DetailName = "detail"
  private val Version = "version"
  private val Line = "line"
  private val Hash = "hash"

  private val columns = (Version +: Line +: CheckpointSchema.Columns).map(col)

  /** The key that distinguishes the actions of one path, and actions without a path. */
  private val Detail: Column = coalesce(
    FileKey.vector("add"),
    FileKey.vector("remove"),
    when(col("metaData.id").isNotNull, lit("metaData")),
    when(col("protocol.minReaderVersion").isNotNull, lit("protocol")),
    concat(lit("txn "), col("txn.appId")),
    concat(lit("domain "), col("domainMetadata.domain"))
  ).as(DetailName)
}
