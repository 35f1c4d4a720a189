package io.deltaupkeep.parquet.plan

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{GroupType, MessageType, Type}
import org.apache.parquet.schema.Type.Repetition

/**
 * Variants that a file stores in more columns than the table's schema has (Parquet format, 'Variant Shredding'). The
 * new file stores them as the first input does. Files without these columns fit: they get nulls there.
 */
private[parquet] object ShreddedVariants {

  private val Metadata = "metadata"
  private val Whole = Set("value", Metadata)
  private val Typed = "typed_value"

  /** Whether a field of the table is a variant that the file has shredded, with all columns that any file may have. */
  def isShredded(table: Type, file: Type): Boolean = !table.isPrimitive && !file.isPrimitive &&
    isVariant(table.asGroupType) && names(file.asGroupType) == Whole + Typed

  /** Why the variants of a file do not fit those of the output, or None. */
  def mismatch(output: MessageType, file: MessageType, matching: FieldMatching): Option[String] =
    below(output, file, matching)

  private def below(output: GroupType, file: GroupType, matching: FieldMatching): Option[String] =
    output.getFields.asScala.iterator
      .flatMap(field => matching.find(output, field, file).map(field -> _))
      .flatMap {
        case (wanted: GroupType, found: GroupType) =>
          if (!isVariant(wanted)) below(wanted, found, matching)
          else
            Option.when(found.containsField(Typed) && !found.getFields.equals(wanted.getFields)) {
              s"variants of column ${wanted.getName} are shredded differently in a file"
            }
        case _ => None
      }
      .nextOption()

  /** Fields of a table's struct may be null, but the metadata of a variant may not. */
  private def isVariant(group: GroupType): Boolean =
    (names(group) == Whole || names(group) == Whole + Typed) &&
      group.getType(Metadata).isRepetition(Repetition.REQUIRED)

  private def names(group: GroupType): Set[String] = group.getFields.asScala.map(_.getName).toSet
}
