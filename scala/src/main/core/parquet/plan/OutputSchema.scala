package io.deltaupkeep.parquet.plan

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, MessageType, PrimitiveType, Type, Types}
import org.apache.parquet.schema.LogicalTypeAnnotation.{
  DecimalLogicalTypeAnnotation,
  IntLogicalTypeAnnotation,
  TimestampLogicalTypeAnnotation
}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition

/**
 * The schema of an output file: the columns of the table, stored as the first input stores them. A table may
 * store a timestamp as INT96 or INT64, a decimal as a number or as bytes, and a variant whole or shredded. Readers
 * accept either, and keeping the stored form avoids decoding. Columns it lacks are stored as the table's writer would.
 */
private[parquet] object OutputSchema {

  /** @param own columns that stay as the table's writer stores them */
  def adopt(
      table: MessageType,
      firstFile: MessageType,
      matching: FieldMatching,
      own: Set[String] = Set.empty
  ): MessageType =
    new MessageType(table.getName, adoptFields(table, firstFile, matching, own).asJava)

  private def adoptFields(
      table: GroupType,
      file: GroupType,
      matching: FieldMatching,
      own: Set[String] = Set.empty
  ): Seq[Type] =
    table.getFields.asScala.toSeq.map { field =>
      val stored = matching.find(table, field, file).filterNot(_ => own(field.getName))
      stored.fold(field)(adoptField(field, _, matching))
    }

  private def adoptField(field: Type, file: Type, matching: FieldMatching): Type = {
    val repetition =
      if (field.isRepetition(Repetition.REQUIRED) && file.isRepetition(Repetition.OPTIONAL))
        Repetition.OPTIONAL
      else field.getRepetition
    if (field.isPrimitive && file.isPrimitive) {
      val storage = storageOf(field.asPrimitiveType, file.asPrimitiveType)
      val built = Types
        .primitive(storage.getPrimitiveTypeName, repetition)
        .length(storage.getTypeLength)
        .as(if (isTimestamp(storage)) storage.getLogicalTypeAnnotation else field.getLogicalTypeAnnotation)
      likeField(field, built)
    } else if (!field.isPrimitive && !file.isPrimitive) {
      val fields =
        if (ShreddedVariants.isShredded(field, file)) file.asGroupType.getFields.asScala.toSeq
        else adoptFields(field.asGroupType, file.asGroupType, matching)
      val built = Types
        .buildGroup(repetition)
        .as(field.getLogicalTypeAnnotation)
        .addFields(fields: _*)
      likeField(field, built)
    } else field
  }

  /** With the field's id and name. */
  private def likeField(field: Type, built: Types.Builder[_, _ <: Type]): Type = {
    Option(field.getId).foreach(id => built.id(id.intValue))
    built.named(field.getName)
  }

  /** The file's, if it can hold all values of the table's. Milliseconds cannot. */
  private def storageOf(table: PrimitiveType, file: PrimitiveType): PrimitiveType =
    (table.getLogicalTypeAnnotation, file.getLogicalTypeAnnotation) match {
      case (a: DecimalLogicalTypeAnnotation, b: DecimalLogicalTypeAnnotation) if a == b => file
      case _ if !isInstant(table) || !isInstant(file) => table
      case _ if isMillis(file) => table
      case _ => file
    }

  private def isTimestamp(primitive: PrimitiveType): Boolean =
    primitive.getPrimitiveTypeName == INT96 ||
      primitive.getLogicalTypeAnnotation.isInstanceOf[TimestampLogicalTypeAnnotation]

  private def isInstant(primitive: PrimitiveType): Boolean = primitive.getLogicalTypeAnnotation match {
    case timestamp: TimestampLogicalTypeAnnotation =>
      timestamp.isAdjustedToUTC && timestamp.getUnit != LogicalTypeAnnotation.TimeUnit.NANOS
    case _ => primitive.getPrimitiveTypeName == INT96
  }

  private def isMillis(primitive: PrimitiveType): Boolean = primitive.getLogicalTypeAnnotation match {
    case timestamp: TimestampLogicalTypeAnnotation =>
      timestamp.getUnit == LogicalTypeAnnotation.TimeUnit.MILLIS
    case _ => false
  }

  /** Whether the values of a file's column can be used in the output unchanged. */
  def isSameStorage(output: PrimitiveType, file: PrimitiveType): Boolean =
    output.getPrimitiveTypeName == file.getPrimitiveTypeName &&
      output.getTypeLength == file.getTypeLength &&
      (meaning(output) == meaning(file))

  /**
   * The annotation, ignoring the width of signed integers and the kind of bytes, which do not change a value.
   */
  private def meaning(primitive: PrimitiveType): Option[LogicalTypeAnnotation] =
    Option(primitive.getLogicalTypeAnnotation).filter {
      case ints: IntLogicalTypeAnnotation => !ints.isSigned
      case _: LogicalTypeAnnotation.StringLogicalTypeAnnotation => false
      case _ => true
    }
}
