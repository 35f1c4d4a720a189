package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.upkeep.read.FileKey
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * The file actions among rows.
 *
 * @param schema has the columns `add` and `remove` of Delta's log
 */
private[upkeep] final class FileActions(schema: StructType) {

  private val add = new Column("add")
  private val remove = new Column("remove")
  private val deletionTime = remove.fields.fieldIndex("deletionTimestamp")

  /** Whether the row is a file action. */
  def has(row: InternalRow): Boolean = !row.isNullAt(add.ordinal) || !row.isNullAt(remove.ordinal)

  /** The file's path as the action spells it. */
  def path(row: InternalRow): UTF8String = of(row).path(row)

  /**
   * The key by which reconciliation identifies the file. Its path may be spelled differently from the
   * action's.
   */
  def key(row: InternalRow, path: UTF8String): UTF8String = of(row).key(row, path)

  /**
   * Whether it is an expired tombstone.
   *
   * @param unexpired milliseconds since the epoch: older tombstones have expired
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

  /** Not part of any path, because it would be encoded there. */
  val Separator: UTF8String = UTF8String.fromString("\n")

  private def key(path: UTF8String, vector: UTF8String): UTF8String =
    UTF8String.concat(path, Separator, vector)

  def key(of: FileKey): UTF8String = {
    val path = UTF8String.fromString(of.path)
    of.deletionVector.fold(path)(vector => key(path, UTF8String.fromString(vector)))
  }
}
