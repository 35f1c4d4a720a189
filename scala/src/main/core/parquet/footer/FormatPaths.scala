package io.deltaupkeep.parquet.footer

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, MessageType, Type}
import org.apache.parquet.schema.Type.Repetition

/**
 * The paths of a schema's leaves, with the names that the Parquet format gives to the groups of lists and maps
 * ('Nested Types'). Writers name them differently, so only such paths can be compared between files.
 *
 * Example: `l.bag.array_element` of Hive becomes `l.list.element`.
 */
private[parquet] object FormatPaths {

  private val Element = Seq("list", "element")
  private val KeyValue = "key_value"
  private val Pair = IndexedSeq("key", "value")

  /** In the order of the schema's columns. */
  def of(schema: MessageType): IndexedSeq[Seq[String]] = leaves(schema, Vector.empty).toIndexedSeq

  private def leaves(group: GroupType, above: Vector[String]): Seq[Vector[String]] =
    group.getFields.asScala.toSeq.flatMap { field =>
      val path = above :+ field.getName
      // A repeated field without a list around it is a list itself.
      below(field, if (isRepeated(field)) path ++ Element else path)
    }

  private def below(field: Type, path: Vector[String]): Seq[Vector[String]] =
    if (field.isPrimitive) Seq(path)
    else {
      val group = field.asGroupType
      group.getFields.asScala.toSeq match {
        case Seq(repeated) if isRepeated(repeated) && isList(group) =>
          below(elementOf(repeated, group.getName), path ++ Element)
        case Seq(repeated) if isRepeated(repeated) && isMap(group) && !repeated.isPrimitive =>
          repeated.asGroupType.getFields.asScala.toSeq.zipWithIndex.flatMap { case (inner, i) =>
            below(inner, path :+ KeyValue :+ Pair.applyOrElse(i, (_: Int) => inner.getName))
          }
        case _ => leaves(group, path)
      }
    }

  /** In a two-level list, the repeated field itself ('Lists', backward-compatibility rules). */
  private def elementOf(repeated: Type, list: String): Type = repeated match {
    case group: GroupType
        if group.getFieldCount == 1 && group.getName != "array" && group.getName != s"${list}_tuple" &&
          !isRepeated(group.getType(0)) =>
      group.getType(0)
    case itself => itself
  }

  private def isRepeated(field: Type): Boolean = field.isRepetition(Repetition.REPEATED)

  private def isList(group: GroupType): Boolean =
    group.getLogicalTypeAnnotation.isInstanceOf[LogicalTypeAnnotation.ListLogicalTypeAnnotation]

  private def isMap(group: GroupType): Boolean = group.getLogicalTypeAnnotation match {
    case _: LogicalTypeAnnotation.MapLogicalTypeAnnotation => true
    case _: LogicalTypeAnnotation.MapKeyValueTypeAnnotation => true
    case _ => false
  }
}
