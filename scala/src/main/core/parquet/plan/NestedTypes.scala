package io.deltaupkeep.parquet.plan

import scala.jdk.CollectionConverters._

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, MessageType, Type}
import org.apache.parquet.schema.Type.Repetition

/** How lists and maps are stored (Parquet format, 'Nested Types'). */
private[parquet] object NestedTypes {

  /** Whether any field has a field id, at any depth. */
  def hasIds(group: GroupType): Boolean = group.getFields.asScala.exists { field =>
    field.getId != null || (!field.isPrimitive && hasIds(field.asGroupType))
  }

  def isCollection(field: Type): Boolean = isList(field) || isMap(field)

  def isList(field: Type): Boolean =
    field.getLogicalTypeAnnotation.isInstanceOf[LogicalTypeAnnotation.ListLogicalTypeAnnotation]

  def isMap(field: Type): Boolean = field.getLogicalTypeAnnotation match {
    case _: LogicalTypeAnnotation.MapLogicalTypeAnnotation => true
    case _: LogicalTypeAnnotation.MapKeyValueTypeAnnotation => true
    case _ => false
  }

  /** The definition level of a non-null outermost list or map around a column; 0 if there is none. */
  def collectionLevel(schema: MessageType, column: ColumnDescriptor): Int = {
    val path = column.getPath
    val above = path.indices.find(i => isRepeated(schema.getType(path.take(i + 1): _*)))
    above.filter(_ > 0).fold(0)(i => schema.getMaxDefinitionLevel(path.take(i): _*))
  }

  def isRepeated(field: Type): Boolean = field.isRepetition(Repetition.REPEATED)

  /**
   * Whether a list or map has the three levels that the format requires, whatever their names are. In
   * two-level lists the repeated field is the element itself ('Lists', backward-compatibility rules 1 to 4).
   */
  def hasThreeLevels(collection: GroupType): Boolean =
    !isRepeated(collection) && collection.getFieldCount == 1 && (collection.getType(0) match {
      case middle: GroupType if isRepeated(middle) && !middle.getFields.stream.anyMatch(isRepeated(_)) =>
        if (isMap(collection)) isPair(middle) else isAroundElement(middle, collection)
      case _ => false
    })

  /** Whether a three-level map has optional keys; the format says that keys are required ('Maps'). */
  def mayLackKeys(map: GroupType): Boolean =
    !map.getType(0).asGroupType.getType(0).isRepetition(Repetition.REQUIRED)

  private def isPair(middle: GroupType): Boolean =
    middle.getFieldCount == 2 && (middle.getLogicalTypeAnnotation == null || isMap(middle))

  private def isAroundElement(middle: GroupType, list: GroupType): Boolean =
    middle.getFieldCount == 1 && middle.getLogicalTypeAnnotation == null &&
      middle.getName != "array" && middle.getName != s"${list.getName}_tuple"
}
