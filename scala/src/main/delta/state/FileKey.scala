package org.apache.spark.sql.delta.upkeep.state

import io.deltaupkeep.plan.compact.DataFile

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.upkeep.read.FilePaths
import org.apache.spark.sql.expressions.UserDefinedFunction
import org.apache.spark.sql.functions.{col, when}
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * What identifies a file of a table: its path, in Delta's spelling, and its deletion vector (protocol, 'Action
 * Reconciliation'). This class has the key of a row, without a string for each file; its companion has the same for
 * Delta's actions, and for the columns of a job.
 *
 * @param file the fields of the action `add` or `remove`
 */
private[upkeep] final class FileKey(file: StructType) {
  private val vector = file.fieldIndex("deletionVector")
  private val vectorFields = file(vector).dataType.asInstanceOf[StructType]
  private val storage = vectorFields.fieldIndex("storageType")
  private val place = vectorFields.fieldIndex("pathOrInlineDv")
  private val offset = vectorFields.fieldIndex("offset")
  private val cardinality = vectorFields.getFieldIndex("cardinality").getOrElse(-1)

  /** The storage type of its deletion vector, and the vector or where it is. */
  def vectorOf(action: InternalRow): Option[(UTF8String, UTF8String)] =
    descriptorOf(action).map(descriptor =>
      descriptor.getUTF8String(storage) -> descriptor.getUTF8String(place)
    )

  private def descriptorOf(action: InternalRow): Option[InternalRow] =
    Option.when(!action.isNullAt(vector))(action.getStruct(vector, vectorFields.size))
      .filterNot(descriptor => descriptor.isNullAt(storage) || descriptor.isNullAt(place))

  /** @param path in Delta's spelling */
  def idOf(action: InternalRow, path: UTF8String): DataFile.Id = DataFile.Id(path.toString, vectorId(action))

  private def vectorId(action: InternalRow): Option[String] = descriptorOf(action).map { descriptor =>
    val at = if (descriptor.isNullAt(offset)) "" else s"@${descriptor.getInt(offset)}"
    s"${descriptor.getUTF8String(storage)}${descriptor.getUTF8String(place)}$at"
  }

  /** How many rows it hides; 0 if there is none. */
  def hiddenRows(action: InternalRow): Long =
    descriptorOf(action).fold(0L)(_.getLong(cardinality))

  /** @param path in Delta's spelling */
  def of(action: InternalRow, path: UTF8String): UTF8String =
    descriptorOf(action).fold(path) { descriptor =>
      val at = if (descriptor.isNullAt(offset)) "" else s"@${descriptor.getInt(offset)}"
      UTF8String.concat(
        path,
        FileKey.Separator,
        descriptor.getUTF8String(storage),
        descriptor.getUTF8String(place),
        UTF8String.fromString(at)
      )
    }
}

private[upkeep] object FileKey {

  /** Not part of any path, because it would be encoded there. */
  val Separator: UTF8String = UTF8String.fromString("\n")

  def of(add: AddFile, canonical: String => String): DataFile.Id =
    DataFile.Id(FilePaths.respelled(add.path, canonical), add.getDeletionVectorUniqueId)

  /** The first part of the key: `path`, in Delta's spelling. */
  def path(path: Column, canonical: UserDefinedFunction): Column =
    when(FilePaths.isUnusual(path), canonical(path)).otherwise(path)

  /** The second part; null if there is no deletion vector. */
  def vector(action: String): Column =
    DeletionVectorDescriptor.uniqueIdExpression(col(s"$action.deletionVector"))
}
