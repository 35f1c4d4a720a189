package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.parquet.file.RowShredder

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapreduce.Job
import org.apache.parquet.hadoop.ParquetOutputFormat
import org.apache.parquet.hadoop.api.WriteSupport
import org.apache.parquet.schema.MessageType

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.ParquetOutputTimestampType
import org.apache.spark.sql.types.StructType

/**
 * How Delta's writer stores rows of a table in Parquet.
 *
 * @param rowSchema of the files, by physical names
 */
private[upkeep] final class FileWriting(
    session: SparkSession,
    snapshot: Snapshot,
    rowSchema: StructType,
    hadoopConf: Configuration
) {

  private lazy val conf: Configuration = {
    val job = Job.getInstance(hadoopConf)
    val format = snapshot.deltaLog.fileFormat(snapshot.protocol, snapshot.metadata)
    format.prepareWrite(session, job, Map.empty, rowSchema)
    val conf = job.getConfiguration
    // Other forms lose digits, or have no bounds and no times before 1677 and after 2262 for some readers.
    val micros = ParquetOutputTimestampType.TIMESTAMP_MICROS.toString
    conf.set(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key, micros)
    conf
  }

  private def newSupport: WriteSupport[InternalRow] =
    new ParquetOutputFormat[InternalRow]().getWriteSupport(conf).asInstanceOf[WriteSupport[InternalRow]]

  /** With the field ids that Iceberg readers need. */
  lazy val schema: MessageType = SparkApi.schemaOf(newSupport, conf)

  private lazy val row = new RowShredder(schema)

  private lazy val rows: WriteSupport[InternalRow] = {
    val settings = session.sessionState.conf.clone()
    // As in all files of current Spark versions, which name their version in the footer.
    settings.setConfString(SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key, "CORRECTED")
    SQLConf.withExistingConf(settings) {
      val support = newSupport
      SparkApi.schemaOf(support, conf)
      support.prepareForWrite(row)
      support
    }
  }

  /** Values of columns outside structs in PLAIN encoding; None for null. */
  def plain(values: Map[String, Any]): Map[String, Option[Array[Byte]]] =
    if (values.isEmpty) Map.empty
    else {
      row.clear()
      rows.write(new GenericInternalRow(rowSchema.fieldNames.map(values.getOrElse(_, null))))
      values.keys.map(name => name -> row.onlyValue(name)).toMap
    }
}
