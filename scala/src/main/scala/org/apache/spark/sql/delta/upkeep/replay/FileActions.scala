package org.apache.spark.sql.delta.upkeep.replay

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.upkeep.log.FileKey
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * The actions about files among rows.
 *
 * @param schema has the columns `add` and `remove` of Delta's log
 */
private[upkeep] final class FileActions(schema: StructType) {

  private val add = new Column("add")
  private val remove = new Column("remove")
  private val deletionTime = remove.fields.fieldIndex("deletionTimestamp")

  /** Whether the row is one. */
  def has(row: InternalRow): Boolean = !row.isNullAt(add.ordinal) || !row.isNullAt(remove.ordinal)

  /** The file's path as it is written. */
  def path(row: InternalRow): UTF8String = of(row).path(row)

  /** What reconciliation tells the file by; its path may be another spelling of the one that is written. */
  def key(row: InternalRow, path: UTF8String): UTF8String = of(row).key(row, path)

  /**
   * Whether it is a tombstone that may go.
   *
   * @param unexpired milliseconds since the epoch: tombstones that are not younger may go
   */
  def isExpired(row: InternalRow, unexpired: Long): Boolean = row.isNullAt(add.ordinal) && {
    val action = remove.action(row)
    action.isNullAt(deletionTime) || action.getLong(deletionTime) <= unexpired
  }

  private def of(row: InternalRow): Column = if (row.isNullAt(add.ordinal)) remove else add

  private final class Column(name: String) {
    val ordinal: Int = schema.fieldIndex(name)
    val fields: StructType = schema(ordinal).dataType.asInstanceOf[StructType]
    private val pathField = fields.fieldIndex("path")
    private val vector = fields.fieldIndex("deletionVector")
    private val vectorFields = fields(vector).dataType.asInstanceOf[StructType]
    private val storage = vectorFields.fieldIndex("storageType")
    private val place = vectorFields.fieldIndex("pathOrInlineDv")
    private val offset = vectorFields.fieldIndex("offset")

    def action(row: InternalRow): InternalRow = row.getStruct(ordinal, fields.size)

    def path(row: InternalRow): UTF8String = action(row).getUTF8String(pathField)

    def key(row: InternalRow, path: UTF8String): UTF8String = {
      val file = action(row)
      if (file.isNullAt(vector)) path
      else {
        val descriptor = file.getStruct(vector, vectorFields.size)
        val at = if (descriptor.isNullAt(offset)) "" else s"@${descriptor.getInt(offset)}"
        FileActions.key(
          path,
          UTF8String.concat(
            descriptor.getUTF8String(storage),
            descriptor.getUTF8String(place),
            UTF8String.fromString(at)
          )
        )
      }
    }
  }
}

private[upkeep] object FileActions {

  /** In no path, where it would be encoded. */
  val Separator: UTF8String = UTF8String.fromString("\n")

  private def key(path: UTF8String, vector: UTF8String): UTF8String =
    UTF8String.concat(path, Separator, vector)

  def key(of: FileKey): UTF8String = {
    val path = UTF8String.fromString(of.path)
    of.deletionVector.fold(path)(vector => key(path, UTF8String.fromString(vector)))
  }
}
