package org.apache.spark.sql.delta.upkeep.rewrite

import scala.collection.immutable.BitSet
import scala.util.control.NonFatal

import io.deltaupkeep.UnreadableInput

import org.apache.hadoop.fs.Path
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.format.converter.ParquetMetadataConverter.SKIP_ROW_GROUPS
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.schema.MessageType

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.{IdMapping, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.spark.ParquetReading
import org.apache.spark.sql.delta.upkeep.table.{NoSharedField, PhysicalSchema}
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.util.SerializableConfiguration

/** Which columns of a table its data files lack, according to their footers. */
private[upkeep] final class LackedColumns(snapshot: Snapshot, session: SparkSession) {
  import LackedColumns._

  private val metadata = snapshot.metadata
  private val reading = ParquetReading.of(
    PhysicalSchema.of(metadata.dataSchema, metadata),
    session.sessionState.conf,
    byId = metadata.columnMappingMode == IdMapping
  )

  /** The files by the positions of the columns that they lack. Runs one Spark job. */
  def of(files: Seq[AddFile]): Map[BitSet, Seq[AddFile]] = {
    val context = session.sparkContext
    val root = snapshot.deltaLog.dataPath.toString
    val paths = files.map(file => DeltaFileOperations.absolutePath(root, file.path))
    val conf = new SerializableConfiguration(
      session.sessionState.newHadoopConfWithOptions(metadata.configuration ++ snapshot.deltaLog.options)
    )
    val ofTask = reading
    val lacked = context
      .parallelize(paths, math.min(paths.size, context.defaultParallelism))
      .map { path =>
        val schema = schemaOf(path, conf)
        ofTask.droppedBy(schema).foreach { column =>
          throw new UnreadableInput(path.toString, new NoSharedField(column), ofSplice = false)
        }
        ofTask.lackedBy(schema)
      }
      .collect()
    files.zip(lacked).groupMap(_._2)(_._1)
  }
}

private object LackedColumns {

  private def schemaOf(file: Path, conf: SerializableConfiguration): MessageType =
    try {
      val options = HadoopReadOptions.builder(conf.value, file).withMetadataFilter(SKIP_ROW_GROUPS).build()
      val reader = ParquetFileReader.open(HadoopInputFile.fromPath(file, conf.value), options)
      try reader.getFooter.getFileMetaData.getSchema
      finally reader.close()
    } catch {
      case NonFatal(e) => throw new UnreadableInput(file.toString, e, ofSplice = false)
    }
}
