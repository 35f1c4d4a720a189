package org.apache.spark.sql.delta.upkeep.analyze

import io.deltaupkeep.UpkeepErrors

import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, PhysicalSchema}
import org.apache.spark.sql.types.StructType

/** The columns that a table collects statistics of, each by the parts of its physical name. */
private[analyze] final class CollectedColumns(table: DeltaHandle) {
  import CollectedColumns._

  val all: Seq[Seq[String]] =
    RowStatistics.ofTable(table.snapshot).statsSchema.find(_.name == "nullCount").map(_.dataType) match {
      case Some(counts: StructType) => leaves(counts)
      case _ => Nil
    }

  /**
   * Those of some columns and of the fields in them.
   *
   * @param names each by its parts
   * @throws io.deltaupkeep.UpkeepException `COLUMN_WITHOUT_STATISTICS`
   */
  def of(names: Seq[Seq[String]]): Seq[Seq[String]] = names.flatMap { name =>
    val found = PhysicalSchema.find(name, table.snapshot.metadata, table.session.sessionState.conf.resolver)
      .fold(Seq.empty[Seq[String]])(column => all.filter(_.startsWith(column.path)))
    if (found.isEmpty) throw UpkeepErrors.columnWithoutStatistics(name.mkString("."), table.name)
    found
  }.distinct
}

private object CollectedColumns {

  private def leaves(schema: StructType): Seq[Seq[String]] = schema.fields.toSeq.flatMap { field =>
    field.dataType match {
      case nested: StructType => leaves(nested).map(field.name +: _)
      case _ => Seq(Seq(field.name))
    }
  }
}
