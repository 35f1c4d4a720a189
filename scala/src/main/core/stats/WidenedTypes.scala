package io.deltaupkeep.stats

import org.apache.spark.sql.types._

/** The types that columns have had before (protocol, 'Type Change Metadata'). Pure. */
object WidenedTypes {
  private val Changes = "delta.typeChanges"
  private val Path = "fieldPath"
  private val From = "fromType"

  /** Those of a field itself, by their names there, without those of its elements, keys and values. */
  def of(field: StructField): Set[String] =
    changes(field).filterNot(_.contains(Path)).map(_.getString(From)).toSet

  /** Whether something in the schema had such a type. */
  def anyFrom(dataType: DataType, fromType: String): Boolean = dataType match {
    case struct: StructType => struct.fields.exists { field =>
        changes(field).exists(_.getString(From) == fromType) || anyFrom(field.dataType, fromType)
      }
    case ArrayType(element, _) => anyFrom(element, fromType)
    case MapType(key, value, _) => anyFrom(key, fromType) || anyFrom(value, fromType)
    case _ => false
  }

  private def changes(field: StructField): Seq[Metadata] =
    if (field.metadata.contains(Changes)) field.metadata.getMetadataArray(Changes).toSeq else Nil
}
