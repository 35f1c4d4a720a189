package org.apache.spark.sql.delta.upkeep.table

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import io.deltaupkeep.plan.compact.Partition

import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.delta.{DeltaConfigs, NoMapping}
import org.apache.spark.sql.delta.actions.{AddFile, Metadata}
import org.apache.spark.sql.types.{DataType, StringType, StructField, TimestampType}

/**
 * The partitions of a table's files. Values have the types that Delta's reader gives them, so that two
 * partitions are never mixed up.
 */
private[upkeep] final class Partitions(metadata: Metadata) {
  import Partitions._

  private val columns = metadata.physicalPartitionSchema.fields.toSeq
  private val known = new ConcurrentHashMap[Map[String, String], Partition]

  def of(file: AddFile): Partition = of(file.partitionValues)

  /**
   * The partition by values as the log spells them. For the same spelling it is the same object. Thread-safe.
   */
  def of(logged: Map[String, String]): Partition = known.computeIfAbsent(
    logged,
    _ => {
      val values = spelled(logged)
      val typed = columns.map(column => Option(values(column.name)).map(normalized(_, column.dataType)))
      val texts = columns.map(column => Option(values(column.name)))
      Partition(typed)(Partition.textOf(metadata.partitionColumns.zip(texts)))
    }
  )

  /** The values as the log spells them. Delta's reader takes a missing column as null. */
  def spelled(file: AddFile): Map[String, String] = spelled(file.partitionValues)

  private def spelled(logged: Map[String, String]): Map[String, String] =
    columns.map(column => column.name -> logged.getOrElse(column.name, null)).toMap

  /** All spellings of values that were asked for, with their partitions. */
  def all: Map[Map[String, String], Partition] = known.asScala.toMap

  /** The value of a column, as Delta's file index reads it in a time zone. */
  def valueOf(file: AddFile, column: StructField, timeZone: String): Any =
    Partitions.valueOf(file.partitionValues.getOrElse(column.name, null), column.dataType, timeZone)

  /** Where Delta's writer would put a file, below the table's directory. */
  def directoryOf(file: AddFile): String = {
    val values = spelled(file)
    columns
      .map(column => ExternalCatalogUtils.getPartitionPathString(column.name, values(column.name)))
      .mkString("/")
  }
}

private[upkeep] object Partitions {

  /** An empty text is a null (protocol, 'Partition Value Serialization'). */
  def valueOf(text: String, dataType: DataType, timeZone: String): Any =
    Option(text).filter(_.nonEmpty).map(stored => cast(Literal(stored), dataType, timeZone)).orNull

  /** Length of the random directory name that Delta's writer uses in place of the partition's, if it does. */
  def randomPrefixLength(metadata: Metadata): Option[Int] = {
    val isRandom =
      DeltaConfigs.RANDOMIZE_FILE_PREFIXES.fromMetaData(metadata) || metadata.columnMappingMode != NoMapping
    Option.when(isRandom)(DeltaConfigs.RANDOM_PREFIX_LENGTH.fromMetaData(metadata))
  }

  /**
   * A timestamp without a zone is in the time zone of the session that reads it. Its value in one zone may
   * equal that of a timestamp with a zone; its values in two zones do not.
   */
  private val Zones = Seq("+00:00", "+18:00")

  /** One text for all spellings of a value. A text that is not a value of the type stays unchanged. */
  private def normalized(spelled: String, dataType: DataType): String = {
    val zones = if (dataType == TimestampType) Zones else Zones.take(1)
    zones.map(read(spelled, dataType, _).getOrElse(spelled)).mkString(" ")
  }

  /**
   * The value as Delta's file index reads it, as a text that distinguishes all values, such as -0.0 and 0.0.
   */
  private def read(spelled: String, dataType: DataType, zone: String): Option[String] = {
    val value = cast(Literal(spelled), dataType, zone)
    Option(value).map(typed => cast(Literal.create(typed, dataType), StringType, Zones.head).toString)
  }

  private def cast(value: Literal, to: DataType, zone: String): Any =
    Cast(value, to, Some(zone), ansiEnabled = false).eval()
}
