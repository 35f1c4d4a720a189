package org.apache.spark.sql.delta.upkeep.analyze

import io.deltaupkeep.UpkeepErrors

import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, PhysicalSchema}
import org.apache.spark.sql.types.{StructField, StructType}

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
    val found = logicalPath(name).map(physicalPath).fold(Seq.empty[Seq[String]]) { path =>
      all.filter(_.startsWith(path))
    }
    if (found.isEmpty) throw UpkeepErrors.columnWithoutStatistics(name.mkString("."), table.name)
    found
  }.distinct

  /** By the names in the table's schema. */
  private def logicalPath(name: Seq[String]): Option[Seq[StructField]] = {
    val isSame = table.session.sessionState.conf.resolver
    name.foldLeft(Option((table.schema, Seq.empty[StructField]))) { (place, part) =>
      for ((schema, path) <- place; field <- schema.find(f => isSame(f.name, part))) yield {
        val inside = field.dataType match {
          case nested: StructType => nested
          case _ => new StructType
        }
        (inside, path :+ field)
      }
    }.map(_._2).filter(_.nonEmpty)
  }

  private def physicalPath(fields: Seq[StructField]): Seq[String] = {
    val only = fields.init.foldRight(fields.last) { (parent, child) =>
      parent.copy(dataType = StructType(Seq(child)))
    }
    namesOf(PhysicalSchema.of(StructType(Seq(only)), table.snapshot.metadata), fields.size)
  }
}

private object CollectedColumns {

  private def leaves(schema: StructType): Seq[Seq[String]] = schema.fields.toSeq.flatMap { field =>
    field.dataType match {
      case nested: StructType => leaves(nested).map(field.name +: _)
      case _ => Seq(Seq(field.name))
    }
  }

  /** Of the first field on each of some levels. */
  private def namesOf(schema: StructType, levels: Int): Seq[String] =
    if (levels == 0) Nil
    else
      schema.head.name +: (schema.head.dataType match {
        case nested: StructType => namesOf(nested, levels - 1)
        case _ => Nil
      })
}
