package org.apache.spark.sql.delta.upkeep.files

import io.deltaupkeep.plan.compact.{DataFile, Partition}
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.MapData
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.state.FileKey
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Makes files, as the planner sees them, of rows of the log, without Delta's action for each.
 *
 * @param fields    of the rows, of those that Delta's log and checkpoints have
 * @param partition by its values, as the log spells them
 */
private[files] final class DataFileReader(fields: StructType, partition: Map[String, String] => Partition) {
  import DataFileReader._

  private val keys = new FileKey(fields)
  private val size = ordinal("size")
  private val time = ordinal("modificationTime")
  private val values = ordinal("partitionValues")
  private val tags = ordinal("tags")
  private val stats = ordinal("stats")
  private val parsed = ordinal("stats_parsed")
  private val baseRowId = ordinal("baseRowId")

  private def ordinal(name: String): Int = fields.getFieldIndex(name).getOrElse(-1)

  /** @param path in Delta's spelling */
  def idOf(add: InternalRow, path: UTF8String): DataFile.Id = keys.idOf(add, path)

  def apply(add: InternalRow, path: UTF8String): DataFile = {
    val id = idOf(add, path)
    dataFile(
      id,
      add.getLong(size),
      add.getLong(time),
      partition(texts(add, values)),
      // Without deleted rows, no plan asks for their number.
      if (id.deletionVector.isEmpty) None else rows(add),
      keys.hiddenRows(add),
      texts(add, tags)
    )
  }

  /** With the number of its rows, for its statistics as JSON. */
  def counted(add: InternalRow, path: UTF8String, stats: String): DataFile =
    apply(add, path).copy(physicalRows = rows(add, stats))

  private def rows(add: InternalRow): Option[Long] = rows(add, statsOf(add))

  private def rows(add: InternalRow, stats: => String): Option[Long] = {
    val number =
      Option.when(parsed >= 0 && !add.isNullAt(parsed))(add.getStruct(parsed, 1)).filterNot(_.isNullAt(0))
    number.map(_.getLong(0)).orElse(MergedStats.numRecords(stats))
  }

  /** Its statistics as JSON; null if it has none. */
  def statsOf(add: InternalRow): String =
    if (stats < 0 || add.isNullAt(stats)) null else add.getUTF8String(stats).toString

  /** The id of the last row; the highest of all if a row may have it. */
  def lastRowId(add: InternalRow): Long =
    if (add.isNullAt(baseRowId)) Long.MaxValue
    else rows(add).fold(Long.MaxValue)(add.getLong(baseRowId) + _ - 1)
}

private[files] object DataFileReader {

  def of(add: AddFile, id: DataFile.Id, partition: Partition): DataFile = dataFile(
    id,
    add.size,
    add.modificationTime,
    partition,
    MergedStats.numRecords(add.stats),
    add.numDeletedRecords,
    Option(add.tags).getOrElse(Map.empty)
  )

  private def dataFile(
      id: DataFile.Id,
      size: Long,
      time: Long,
      partition: Partition,
      rows: Option[Long],
      hidden: Long,
      tags: Map[String, String]
  ): DataFile = DataFile(
    id.path,
    id.deletionVector,
    size,
    time,
    partition,
    rows,
    hidden,
    optimizedFor = tags.get(AddFile.Tags.OPTIMIZE_TARGET_SIZE.name).map(_.toLong),
    cube = Option.when(tags.contains(DataFile.ZOrderTag) || tags.contains(DataFile.SortTag)) {
      tags.getOrElse(DataFile.CubeTag, "")
    }
  )

  private def texts(add: InternalRow, map: Int): Map[String, String] =
    if (map < 0 || add.isNullAt(map)) Map.empty else texts(add.getMap(map))

  private def texts(map: MapData): Map[String, String] = {
    val (keys, values) = (map.keyArray(), map.valueArray())
    Iterator.range(0, map.numElements()).map { i =>
      keys.getUTF8String(i).toString -> (if (values.isNullAt(i)) null else values.getUTF8String(i).toString)
    }.toMap
  }
}
