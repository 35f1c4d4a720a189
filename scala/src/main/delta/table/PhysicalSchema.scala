package org.apache.spark.sql.delta.upkeep.table

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.delta.DeltaColumnMapping
import org.apache.spark.sql.delta.actions.Metadata
import org.apache.spark.sql.types.{DataType, StructType}

/** Columns by the names and ids that they have in data files. */
private[upkeep] object PhysicalSchema {

  def of(columns: StructType, metadata: Metadata): StructType =
    DeltaColumnMapping.createPhysicalSchema(columns, metadata.schema, metadata.columnMappingMode)

  /**
   * The parts of a column's physical name, and its type. None if there is no such column.
   *
   * @param name by its parts, as in the table's schema
   */
  def find(name: Seq[String], metadata: Metadata, isSame: Resolver): Option[(Seq[String], DataType)] = {
    def below(
        logical: StructType,
        physical: StructType,
        parts: Seq[String]
    ): Option[(List[String], DataType)] =
      logical.indexWhere(field => isSame(field.name, parts.head)) match {
        case -1 => None
        case i =>
          (logical(i).dataType, physical(i).dataType) match {
            case (_, dataType) if parts.size == 1 => Some((List(physical(i).name), dataType))
            case (inLogical: StructType, inPhysical: StructType) =>
              below(inLogical, inPhysical, parts.tail).map { case (path, dataType) =>
                (physical(i).name :: path, dataType)
              }
            case _ => None
          }
      }
    below(metadata.schema, of(metadata.schema, metadata), name)
  }
}
