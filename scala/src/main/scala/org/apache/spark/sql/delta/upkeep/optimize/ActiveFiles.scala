package org.apache.spark.sql.delta.upkeep.optimize

import scala.jdk.CollectionConverters._

import io.delta.kernel.Table
import io.delta.kernel.data.Row
import io.delta.kernel.defaults.engine.DefaultEngine
import io.delta.kernel.internal.ScanImpl
import io.delta.kernel.internal.util.VectorUtils

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.{DeltaConfigs, DeltaLog, Snapshot}
import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.log.FileKey
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, SessionCopy}
import org.apache.spark.sql.delta.util.FileNames

/**
 * The files of a table with their statistics. Delta on Spark replays the log in queries, which take seconds
 * to plan and compile in a fresh session. Delta Kernel replays it on the driver, a million files in about ten
 * seconds. Queries are used for logs that are too large for the driver, for tables that Kernel does not
 * support or whose files have fields that it drops, and for tables whose paths it does not reconcile.
 */
private[upkeep] object ActiveFiles {

  /** The files that the predicate on partition columns selects. */
  def of(handle: DeltaHandle, predicate: Seq[Expression]): Seq[AddFile] = {
    import org.apache.spark.sql.delta.implicits._
    val session = handle.session
    val snapshot = handle.snapshot
    def filtered(files: => org.apache.spark.sql.Dataset[AddFile]): Seq[AddFile] =
      DeltaLog.filterFileList(snapshot.metadata.partitionSchema, files.toDF(), predicate).as[AddFile]
        .collect().toSeq
    def replayed = withFittingTasks(handle)(filtered(snapshot.allFiles))
    if (!isForKernel(handle)) replayed
    else {
      val files = byKernel(handle)
      if (!isReconciled(snapshot, files)) spelledAsIn(files, replayed, snapshot)
      else if (predicate.isEmpty) files
      else filtered(session.createDataset(files))
    }
  }

  /**
   * Whether Delta has the same files. Kernel compares paths as texts, but for Delta `/a` and `file:/a` may be
   * one file. Kernel then lists the file twice, or still lists it after its removal.
   */
  private def isReconciled(snapshot: Snapshot, files: Seq[AddFile]): Boolean =
    !files.exists(add => FileKey.isUnusual(add.path)) &&
      snapshot.checksumOpt.forall(_.numFiles == files.size)

  /**
   * The files of Delta's replay under the paths of the log, because readers that compare texts look for these
   * paths in removals.
   */
  private def spelledAsIn(log: Seq[AddFile], replayed: Seq[AddFile], snapshot: Snapshot): Seq[AddFile] = {
    val canonical = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)
    val spelled = log.iterator.map(add => canonical(add.path) -> add.path).toMap
    replayed.map(add => add.copy(path = spelled.getOrElse(add.path, add.path)))
  }

  private def isForKernel(handle: DeltaHandle): Boolean = {
    val snapshot = handle.snapshot
    val jsonStats = snapshot.checkpointProvider.isEmpty ||
      DeltaConfigs.CHECKPOINT_WRITE_STATS_AS_JSON.fromMetaData(snapshot.metadata)
    // Kernel does not see commits that a coordinator has not published to the log yet.
    logBytes(handle) <= MostBytesOnDriver && jsonStats &&
    !snapshot.logSegment.deltas.exists(file => FileNames.isUnbackfilledDeltaFile(file.getPath)) &&
    snapshot.protocol.readerFeatureNames.subsetOf(KernelFeatures) &&
    !ClusteredTableUtils.isSupported(snapshot.protocol) &&
    SpliceEligibility.foreignType(snapshot.metadata.schema).isEmpty
  }

  private def byKernel(handle: DeltaHandle): Seq[AddFile] = {
    val engine = DefaultEngine.create(handle.hadoopConf)
    val snapshot = Table.forPath(engine, handle.path).getSnapshotAsOfVersion(engine, handle.snapshot.version)
    val batches = snapshot.getScanBuilder.build().asInstanceOf[ScanImpl].getScanFiles(engine, true)
    try {
      val files = Seq.newBuilder[AddFile]
      // All rows have one schema, and there may be a million.
      var field = Map.empty[String, Int]
      while (batches.hasNext) {
        val rows = batches.next().getRows
        while (rows.hasNext) {
          val row = rows.next().getStruct(0)
          if (field.isEmpty) field = fieldsOf(row)
          files += addFile(row, field)
        }
      }
      files.result()
    } finally batches.close()
  }

  private def fieldsOf(row: Row): Map[String, Int] = row.getSchema.fieldNames.asScala.zipWithIndex.toMap

  private def addFile(row: Row, field: Map[String, Int]): AddFile = {
    def get[T](name: String)(read: (Row, Int) => T): Option[T] =
      field.get(name).filterNot(row.isNullAt).map(read(row, _))
    def map(name: String): Option[Map[String, String]] =
      get(name)((r, i) => VectorUtils.toJavaMap[String, String](r.getMap(i)).asScala.toMap)
    AddFile(
      path = row.getString(field("path")),
      partitionValues = map("partitionValues").getOrElse(Map.empty),
      size = row.getLong(field("size")),
      modificationTime = row.getLong(field("modificationTime")),
      dataChange = row.getBoolean(field("dataChange")),
      stats = get("stats")(_.getString(_)).orNull,
      tags = map("tags").orNull,
      deletionVector = get("deletionVector")(_.getStruct(_)).map(deletionVector).orNull,
      baseRowId = get("baseRowId")(_.getLong(_)),
      defaultRowCommitVersion = get("defaultRowCommitVersion")(_.getLong(_))
    )
  }

  private def deletionVector(row: Row): DeletionVectorDescriptor = {
    val vector = io.delta.kernel.internal.actions.DeletionVectorDescriptor.fromRow(row)
    DeletionVectorDescriptor(
      storageType = vector.getStorageType,
      pathOrInlineDv = vector.getPathOrInlineDv,
      offset = Option(vector.getOffset.orElse(null)).map(_.intValue),
      sizeInBytes = vector.getSizeInBytes,
      cardinality = vector.getCardinality
    )
  }

  /**
   * Delta replays the log in 50 tasks, whatever its size, and each task costs tens of milliseconds before it
   * reads a line. Here each task reads 8 MiB of the log.
   */
  private def withFittingTasks[T](handle: DeltaHandle)(body: => T): T = {
    val entry = DeltaSQLConf.DELTA_SNAPSHOT_PARTITIONS
    if (handle.session.sessionState.conf.getConf(entry).nonEmpty) body
    else {
      val tasks = math.max(1L, math.min(50L, logBytes(handle) / (8L << 20))).toInt
      SessionCopy.of(handle.session)(_.setConf(entry, Some(tasks))).withActive(body)
    }
  }

  private def logBytes(handle: DeltaHandle): Long = {
    val segment = handle.snapshot.logSegment
    (segment.deltas ++ segment.checkpointProvider.topLevelFiles).map(_.getLen).sum
  }

  private val MostBytesOnDriver = 256L << 20

  private val KernelFeatures =
    Set(
      "columnMapping",
      "deletionVectors",
      "timestampNtz",
      "typeWidening",
      "v2Checkpoint",
      "vacuumProtocolCheck"
    )
}
