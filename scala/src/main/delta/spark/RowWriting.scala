package org.apache.spark.sql.delta.upkeep.spark

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapreduce.Job
import org.apache.parquet.io.api.RecordConsumer
import org.apache.parquet.schema.MessageType

import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.execution.datasources.parquet.{ParquetFileFormat, ParquetWriteSupport}
import org.apache.spark.sql.types.StructType

/** How Spark writes rows of a schema to Parquet. */
private[upkeep] final class RowWriting(
    session: ClassicSession,
    val rowSchema: StructType,
    hadoopConf: Configuration
) {

  private val conf = {
    val job = Job.getInstance(hadoopConf)
    new ParquetFileFormat().prepareWrite(session, job, Map.empty, rowSchema)
    job.getConfiguration
  }
  private val context = new ParquetWriteSupport().init(conf)

  def schema: MessageType = context.getSchema

  def keyValues: Map[String, String] = context.getExtraMetaData.asScala.toMap

  /** A writer that passes rows to `to`. */
  def support(to: RecordConsumer): ParquetWriteSupport = {
    val support = new ParquetWriteSupport
    support.init(conf)
    support.prepareForWrite(to)
    support
  }
}
