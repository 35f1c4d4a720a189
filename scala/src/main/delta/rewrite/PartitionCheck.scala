package org.apache.spark.sql.delta.upkeep.rewrite

import org.apache.spark.sql.catalyst.expressions.{EqualNullSafe, Literal}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.Partitions
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Checks again before a commit that the inputs belong to one partition: a new file has one value of each
 * partition column for all its rows.
 *
 * @param partitions physical names and types of the partition columns
 */
private[upkeep] final class PartitionCheck(partitions: StructType, timeZone: String) {

  /** How the files differ, as a sentence. */
  def difference(files: Seq[AddFile]): Option[String] = partitions.fields.iterator.flatMap { field =>
    val texts = files.map(_.partitionValues.getOrElse(field.name, null)).distinct
    texts.find(text => !isSame(texts.head, text, field.dataType)).map { other =>
      s"Its inputs belong to several partitions: ${field.name} is ${shown(texts.head)} and ${shown(other)}."
    }
  }.nextOption()

  private def isSame(a: String, b: String, dataType: DataType): Boolean =
    EqualNullSafe(value(a, dataType), value(b, dataType)).eval() == true

  private def value(text: String, dataType: DataType): Literal =
    Literal.create(Partitions.valueOf(text, dataType, timeZone), dataType)

  private def shown(text: String): String = if (text == null) "NULL" else s"'$text'"
}
