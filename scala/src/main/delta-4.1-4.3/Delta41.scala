package org.apache.spark.sql.delta.upkeep.versions

import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import org.apache.spark.sql.classic.ExpressionUtils
import org.apache.spark.sql.delta.{
  CheckpointProvider,
  DeltaLogFileIndex,
  LazyCompleteCheckpointProvider,
  Snapshot
}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.expressions.EncodeNestedVariantAsZ85String
import org.apache.spark.sql.delta.schema.SchemaUtils
import org.apache.spark.sql.delta.stats.StatsCollector
import org.apache.spark.sql.functions.{col, lit, to_json}
import org.apache.spark.sql.types.StructType

/** Until 4.3 every checkpoint is a set of files, which may have statistics in JSON or as a struct. */
private[upkeep] object Delta41 extends DeltaSince41 {

  override def complete(checkpoint: CheckpointProvider): CheckpointProvider = checkpoint match {
    case unread: LazyCompleteCheckpointProvider => complete(unread.underlyingCheckpointProvider)
    case complete => complete
  }

  override def checkpointActions(session: SparkSession, snapshot: Snapshot): Option[DataFrame] =
    snapshot.checkpointProvider
      .allActionsFileIndexesAndSchemas(session, snapshot.deltaLog)
      .map { case (files, schema) =>
        actionsOf(snapshot, files, schema("add").dataType.asInstanceOf[StructType])
      }
      .reduceOption(_ union _)

  override def statsCollector(snapshot: Snapshot, rebaseMode: String, longest: Int): StatsCollector =
    StatsCollector(
      snapshot.columnMappingMode,
      snapshot.dataSchema,
      snapshot.statsSchema,
      rebaseMode,
      stringTruncateLength = Some(longest)
    )

  private def actionsOf(snapshot: Snapshot, files: DeltaLogFileIndex, add: StructType): DataFrame = {
    val isStruct = add.fieldNames.contains("stats_parsed") && !add.fieldNames.contains("stats")
    val schema = if (isStruct) Action.logSchemaWithAddStatsParsed(add("stats_parsed")) else Action.logSchema
    val statistics = if (isStruct) to_json(encoded(add("stats_parsed").dataType)) else col("add.stats")
    snapshot.deltaLog
      .loadIndex(files, schema)
      .withColumn("version", lit(snapshot.checkpointProvider.version))
      .withColumn(Snapshot.ADD_STATS_TO_USE_COL_NAME, statistics)
      .withColumn("add", col("add").dropFields("stats_parsed"))
  }

  /** The statistics with variants in Delta's encoding. */
  private def encoded(statistics: org.apache.spark.sql.types.DataType): Column = {
    val parsed = col("add.stats_parsed")
    if (SchemaUtils.typeExistsRecursively(statistics)(_.typeName == "variant"))
      ExpressionUtils.column(EncodeNestedVariantAsZ85String(ExpressionUtils.expression(parsed)))
    else parsed
  }
}
