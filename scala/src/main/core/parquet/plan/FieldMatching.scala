package io.deltaupkeep.parquet.plan

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, MessageType, Type}

/**
 * How a field of the table is found in a file: by name, or by field id if the table maps columns by id. The
 * inner fields of lists and maps are matched by position, because writers name them differently (Parquet
 * format, 'Nested Types').
 */
private[parquet] final case class FieldMatching(byId: Boolean) {

  def find(table: GroupType, field: Type, file: GroupType): Option[Type] =
    if (isInsideCollection(table)) {
      val index = table.getFieldIndex(field.getName)
      Option.when(index < file.getFieldCount)(file.getType(index))
    } else {
      val fields = file.getFields.asScala
      if (byId && field.getId != null) fields.find(f => f.getId != null && f.getId == field.getId)
      else fields.find(_.getName == field.getName)
    }

  /** Whether some readers would match a field that this rule does not. */
  def isAmbiguous(table: GroupType, field: Type, file: GroupType): Boolean =
    !isInsideCollection(table) && {
      val names = file.getFields.asScala.map(_.getName)
      if (byId) names.contains(field.getName) else names.exists(_.equalsIgnoreCase(field.getName))
    }

  /** Case-insensitive readers cannot tell which one is meant. */
  def isTwice(table: GroupType, field: Type, file: GroupType): Boolean =
    !byId && !isInsideCollection(table) &&
      file.getFields.asScala.count(_.getName.equalsIgnoreCase(field.getName)) > 1

  /** The annotated group of a list or map, and the repeated group in it. parquet-java calls the root repeated too. */
  private def isInsideCollection(group: GroupType): Boolean = group match {
    case _: MessageType => false
    case _ => NestedTypes.isCollection(group) || NestedTypes.isRepeated(group)
  }
}
