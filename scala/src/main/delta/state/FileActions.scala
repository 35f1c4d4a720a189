package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.upkeep.table.DamagedAction
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * The file actions among rows.
 *
 * @param schema has the columns `add` and `remove` of Delta's log
 */
private[upkeep] final class FileActions(schema: StructType) {

  private val add = new FileColumn(schema, "add")
  private val remove = new FileColumn(schema, "remove")
  private val deletionTime = remove.fields.fieldIndex("deletionTimestamp")

  /** Whether the row is a file action. */
  def has(row: InternalRow): Boolean = add.has(row) || remove.has(row)

  /** The file's path as the action spells it. */
  def path(row: InternalRow): UTF8String = of(row).path(row)

  /** The file's key. Its path may be spelled differently from the action's. */
  def key(row: InternalRow, path: UTF8String): UTF8String = of(row).key(row, path)

  /** The storage type of its deletion vector, and the vector or where it is. */
  def vector(row: InternalRow): Option[(UTF8String, UTF8String)] = of(row).vector(row)

  /**
   * Whether it is an expired tombstone.
   *
   * @param unexpired milliseconds since the epoch: older tombstones have expired
   */
  def isExpired(row: InternalRow, unexpired: Long): Boolean = !add.has(row) && {
    val action = remove.action(row)
    action.isNullAt(deletionTime) || action.getLong(deletionTime) <= unexpired
  }

  private def of(row: InternalRow): FileColumn = if (add.has(row)) add else remove
}

/** The column `add` or `remove` of rows. */
private[state] final class FileColumn(schema: StructType, name: String) {
  private val ordinal = schema.fieldIndex(name)
  val fields: StructType = schema(ordinal).dataType.asInstanceOf[StructType]
  private val pathField = fields.fieldIndex("path")
  private val keys = new FileKey(fields)

  def has(row: InternalRow): Boolean = !row.isNullAt(ordinal)

  def action(row: InternalRow): InternalRow = row.getStruct(ordinal, fields.size)

  def path(row: InternalRow): UTF8String = {
    val file = action(row)
    if (file.isNullAt(pathField)) throw new DamagedAction(new IllegalArgumentException(s"$name has no path"))
    file.getUTF8String(pathField)
  }

  def vector(row: InternalRow): Option[(UTF8String, UTF8String)] = keys.vectorOf(action(row))

  /** The file's key, for a path in Delta's spelling. */
  def key(row: InternalRow, path: UTF8String): UTF8String = keys.of(action(row), path)
}
