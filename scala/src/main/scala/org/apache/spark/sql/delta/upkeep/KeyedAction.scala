package org.apache.spark.sql.delta.upkeep

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * An action of a commit with what reconciliation tells it from others by (protocol, 'Action Reconciliation').
 *
 * @param row  in the columns of Delta's log
 * @param file canonical path of the file that it is about
 */
private[upkeep] final case class KeyedAction(key: UTF8String, row: InternalRow, file: Option[UTF8String])

private[upkeep] object KeyedAction {

  /** None for actions that a checkpoint does not hold, `commitInfo` say. */
  def of(row: InternalRow, canonical: String => String): Option[KeyedAction] =
    FileKinds.find(kind => !row.isNullAt(kind.column)) match {
      case Some(kind) => kind.keyed(row, canonical)
      case None => otherKey(row).map(KeyedAction(_, row, None))
    }

  private def ordinal(column: String): Int = CommitParser.Schema.fieldIndex(column)

  private def fieldsOf(column: String): StructType =
    CommitParser.Schema(column).dataType.asInstanceOf[StructType]

  private val FileKinds = Array("add", "remove").map(new FileKind(_))

  private final class FileKind(name: String) {
    val column: Int = ordinal(name)
    private val fields = fieldsOf(name)
    private val path = fields.fieldIndex("path")
    private val vector = fields.fieldIndex("deletionVector")
    private val vectorFields = fields(vector).dataType.asInstanceOf[StructType]
    private val storage = vectorFields.fieldIndex("storageType")
    private val place = vectorFields.fieldIndex("pathOrInlineDv")
    private val offset = vectorFields.fieldIndex("offset")

    def keyed(row: InternalRow, canonical: String => String): Option[KeyedAction] = {
      val action = row.getStruct(column, fields.size)
      Option.when(!action.isNullAt(path)) {
        val stored = action.getUTF8String(path)
        val text = stored.toString
        val file = if (FileKey.isUnusual(text)) UTF8String.fromString(canonical(text)) else stored
        KeyedAction(if (action.isNullAt(vector)) file else withVector(file, action), row, Some(file))
      }
    }

    /** A path has no line feed that would not be encoded. */
    private def withVector(file: UTF8String, action: InternalRow): UTF8String = {
      val descriptor = action.getStruct(vector, vectorFields.size)
      val at = if (descriptor.isNullAt(offset)) "" else s"@${descriptor.getInt(offset)}"
      UTF8String.concat(
        file,
        Separator,
        descriptor.getUTF8String(storage),
        descriptor.getUTF8String(place),
        UTF8String.fromString(at)
      )
    }
  }

  private val Separator = UTF8String.fromString("\n")
  private val (txn, domain) = (ordinal("txn"), ordinal("domainMetadata"))
  private val (metaData, protocol) = (ordinal("metaData"), ordinal("protocol"))
  private val appId = fieldsOf("txn").fieldIndex("appId")
  private val domainName = fieldsOf("domainMetadata").fieldIndex("domain")

  /** No path begins with a line feed. */
  private def otherKey(row: InternalRow): Option[UTF8String] = {
    def key(kind: String, name: UTF8String) =
      Some(UTF8String.concat(Separator, UTF8String.fromString(kind), Separator, name))
    if (!row.isNullAt(metaData)) key("metaData", UTF8String.EMPTY_UTF8)
    else if (!row.isNullAt(protocol)) key("protocol", UTF8String.EMPTY_UTF8)
    else if (!row.isNullAt(txn)) key("txn", row.getStruct(txn, fieldsOf("txn").size).getUTF8String(appId))
    else if (!row.isNullAt(domain))
      key("domain", row.getStruct(domain, fieldsOf("domainMetadata").size).getUTF8String(domainName))
    else None
  }
}
