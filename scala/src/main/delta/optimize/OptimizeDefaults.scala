package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.{UpkeepConf, UpkeepErrors}
import io.deltaupkeep.parquet.encoding.Compression
import io.deltaupkeep.plan.compact.OptimizeSettings

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.splice.CurveOf
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** The defaults of OPTIMIZE: the table's properties, then the session's settings. */
object OptimizeDefaults {

  private val TargetFileSizeProperty = "delta.targetFileSize"

  /** Of the protocol since 2026. Delta's own writer does not know it yet. */
  private val CodecProperty = "delta.parquet.compression.codec"

  /** Delta has had it since 3.3. */
  private val BatchSize = "spark.databricks.delta.optimize.batchSize"

  def of(table: DeltaHandle): OptimizeSettings = {
    val settings = ofSession(table.session)
    val properties = table.snapshot.metadata.configuration
    settings.copy(
      targetFileSize = properties
        .get(TargetFileSizeProperty)
        .fold(settings.targetFileSize)(targetOf(TargetFileSizeProperty, _)),
      compression = compressionOf(table),
      clusterBytes = CurveOf.mostBytes(table.session)
    )
  }

  /** That of the table's property; the session's in place of one that Spark does not write, as the protocol allows. */
  def compressionOf(table: DeltaHandle): Option[Compression] =
    table.snapshot.metadata.configuration.get(CodecProperty).flatMap(OptimizeSettings.codecOf).map(
      Compression(_)
    )

  private def targetOf(source: String, text: String): Long = {
    val as = OptimizeSettings.TargetFileSize
    as.read(text.trim).getOrElse(throw UpkeepErrors.invalidOption("OPTIMIZE", source, text, as.expected))
  }

  def ofSession(session: SparkSession): OptimizeSettings = {
    val conf = session.sessionState.conf
    OptimizeSettings(
      targetOf(
        DeltaSQLConf.DELTA_OPTIMIZE_MAX_FILE_SIZE.key,
        conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_FILE_SIZE).toString
      ),
      conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MIN_FILE_SIZE),
      conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_DELETED_ROWS_RATIO),
      maxBytesPerCommit = Option(conf.getConfString(BatchSize, null))
        .fold(OptimizeSettings.DefaultMaxBytesPerCommit)(JavaUtils.byteStringAsBytes),
      verify = conf.getConf(UpkeepConf.OptimizeVerify)
    )
  }
}
