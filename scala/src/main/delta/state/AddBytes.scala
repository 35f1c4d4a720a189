package org.apache.spark.sql.delta.upkeep.state

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.api.WriteSupport.{FinalizedWriteContext, WriteContext}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.upkeep.read.CheckpointFooter
import org.apache.spark.sql.execution.datasources.parquet.ParquetWriteSupport
import org.apache.spark.sql.types.StructType

/**
 * Adds up the sizes of the files that a part of a checkpoint adds. The part's footer has the sum, so a later checkpoint
 * that keeps the part need not read the column.
 *
 * @param schema of the rows
 */
private[upkeep] final class AddBytes(schema: StructType) {
  private val add = schema.fieldIndex("add")
  private val fields = schema(add).dataType.asInstanceOf[StructType]
  private val size = fields.fieldIndex("size")
  private var sum = 0L

  def count(row: InternalRow): Unit =
    if (!row.isNullAt(add)) sum += row.getStruct(add, fields.size).getLong(size)

  /** Takes over what another one has counted. */
  def takeAll(from: AddBytes): Unit = {
    sum += from.sum
    from.sum = 0
  }

  /** What was counted since the last call, as metadata of a file. */
  def take(): Map[String, String] = {
    val counted = sum
    sum = 0
    Map(CheckpointFooter.AddBytes -> counted.toString)
  }
}

/** Spark's way to write the rows of a part, with [[AddBytes]] in the footer. */
private[upkeep] final class SummingWriteSupport extends ParquetWriteSupport {
  private var sum: AddBytes = _

  override def init(conf: Configuration): WriteContext = {
    sum = new AddBytes(StructType.fromString(conf.get(ParquetWriteSupport.SPARK_ROW_SCHEMA)))
    super.init(conf)
  }

  override def write(row: InternalRow): Unit = {
    sum.count(row)
    super.write(row)
  }

  override def finalizeWrite(): FinalizedWriteContext = new FinalizedWriteContext(sum.take().asJava)
}
