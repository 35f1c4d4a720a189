package org.apache.spark.sql.delta.upkeep.versions

import org.apache.parquet.hadoop.metadata.ParquetMetadata

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.internal.SQLConf

/** Makes Delta's statistics of a file, as JSON for the log, from its footer. */
private[upkeep] object FooterCollector {

  def of(snapshot: Snapshot, conf: SQLConf): ParquetMetadata => String = {
    val collector = DeltaApi.current.statsCollector(
      snapshot,
      conf.getConf(SQLConf.PARQUET_REBASE_MODE_IN_READ).toString,
      conf.getConf(DeltaSQLConf.DATA_SKIPPING_STRING_PREFIX_LENGTH)
    )
    footer => JsonUtils.toJson(collector.collect(footer)._1)
  }
}
