package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.upkeep.read.FilePaths
import org.apache.spark.sql.delta.upkeep.table.DamagedAction
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * An action of a commit with the key by which reconciliation identifies it (protocol, 'Action
 * Reconciliation').
 *
 * @param row  in the columns of [[CommitParser.Schema]]
 * @param file canonical path of the file that it is about
 */
private[upkeep] final case class KeyedAction(key: UTF8String, row: InternalRow, file: Option[UTF8String])

private[upkeep] object KeyedAction {

  val Files: FileActions = new FileActions(CommitParser.Schema)

  /**
   * None for actions that a checkpoint does not hold, such as `commitInfo`.
   *
   * @throws DamagedAction it lacks the path or the name by which it is identified
   */
  def of(row: InternalRow, canonical: String => String): Option[KeyedAction] =
    if (Files.has(row)) {
      val path = FilePaths.respelled(Files.path(row), canonical)
      Some(KeyedAction(Files.key(row, path), row, Some(path)))
    } else otherKey(row).map(KeyedAction(_, row, None))

  private def ordinal(column: String): Int = CommitParser.Schema.fieldIndex(column)

  private def fieldsOf(column: String): StructType =
    CommitParser.Schema(column).dataType.asInstanceOf[StructType]

  private val (txn, domain) = (ordinal("txn"), ordinal("domainMetadata"))
  private val (metaData, protocol) = (ordinal("metaData"), ordinal("protocol"))
  private val appId = fieldsOf("txn").fieldIndex("appId")
  private val domainName = fieldsOf("domainMetadata").fieldIndex("domain")

  /** No path begins with a separator. */
  private def otherKey(row: InternalRow): Option[UTF8String] = {
    def key(kind: String, name: UTF8String) = {
      val separator = FileKey.Separator
      Some(UTF8String.concat(separator, UTF8String.fromString(kind), separator, name))
    }
    def nameIn(column: Int, kind: String, field: Int) = {
      val action = row.getStruct(column, fieldsOf(kind).size)
      if (action.isNullAt(field))
        throw new DamagedAction(new IllegalArgumentException(s"$kind has no ${fieldsOf(kind)(field).name}"))
      action.getUTF8String(field)
    }
    if (!row.isNullAt(metaData)) key("metaData", UTF8String.EMPTY_UTF8)
    else if (!row.isNullAt(protocol)) key("protocol", UTF8String.EMPTY_UTF8)
    else if (!row.isNullAt(txn)) key("txn", nameIn(txn, "txn", appId))
    else if (!row.isNullAt(domain)) key("domain", nameIn(domain, "domainMetadata", domainName))
    else None
  }
}
