package org.apache.spark.sql.delta.upkeep.read

import org.apache.parquet.schema.MessageType

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.{Checkpoints, DeltaConfigs, Snapshot}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.schema.SchemaUtils
import org.apache.spark.sql.execution.datasources.parquet.SparkToParquetSchemaConverter
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.StructType

/** The schema of actions in a checkpoint, by the table's properties (protocol, 'Checkpoint Schema'). */
private[upkeep] final class CheckpointSchema(session: ClassicSession, snapshot: Snapshot) {

  /** Actions with columns `txn`, `add`, `remove`, `metaData`, `protocol`, `domainMetadata`. */
  def apply(actions: DataFrame): DataFrame = {
    val inOrder = actions.select(CheckpointSchema.Columns.map(col): _*)
    Checkpoints.buildCheckpoint(
      inOrder.withColumn("remove", col("remove").dropFields("tags", "stats")),
      snapshot
    )
  }

  /** Of a row group of a classic checkpoint. */
  lazy val schema: StructType = {
    val none = session.createDataFrame(new java.util.ArrayList[org.apache.spark.sql.Row], Action.logSchema)
    apply(none).schema.asNullable
  }

  lazy val sidecarSchema: StructType = StructType(Seq("add", "remove").map(schema(_)))

  def hasVariantStatistics: Boolean = CheckpointSchema.hasVariantStatistics(snapshot)

  lazy val parquetSchema: MessageType = stored(schema)

  lazy val sidecarParquetSchema: MessageType = stored(sidecarSchema)

  private def stored(schema: StructType): MessageType =
    new SparkToParquetSchemaConverter(session.sessionState.conf).convert(schema)
}

private[upkeep] object CheckpointSchema {
  val Columns: Seq[String] = Seq("txn", "add", "remove", "metaData", "protocol", "domainMetadata")

  /** Only Delta's own expression knows their encoding. */
  def hasVariantStatistics(snapshot: Snapshot): Boolean =
    SchemaUtils.typeExistsRecursively(snapshot.statsSchema)(_.typeName == "variant")

  /** Whether its next checkpoint does. Statistics stored only as a struct are not read back. */
  def storesStatisticsAsJson(snapshot: Snapshot): Boolean =
    DeltaConfigs.CHECKPOINT_WRITE_STATS_AS_JSON.fromMetaData(snapshot.metadata)
}
