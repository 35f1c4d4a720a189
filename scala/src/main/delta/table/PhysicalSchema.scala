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
   * A column, if there is one of this name.
   *
   * @param name by its parts, as in the table's schema
   */
  def find(name: Seq[String], metadata: Metadata, isSame: Resolver): Option[StoredColumn] =
    find(name, metadata) { (part, logical, _) => isSame(logical, part) }

  /** @param path the parts of its physical name */
  def ofPath(path: Seq[String], metadata: Metadata): Option[StoredColumn] =
    find(path, metadata) { (part, _, physical) => physical == part }

  private def find(parts: Seq[String], metadata: Metadata)(
      isField: (String, String, String) => Boolean
  ): Option[StoredColumn] = {
    def below(logical: StructType, physical: StructType, parts: Seq[String]): Option[StoredColumn] =
      logical.indices.find(i => isField(parts.head, logical(i).name, physical(i).name)).flatMap { i =>
        (logical(i).dataType, physical(i).dataType) match {
          case (_, dataType) if parts.size == 1 =>
            Some(StoredColumn(Seq(logical(i).name), Seq(physical(i).name), dataType))
          case (inLogical: StructType, inPhysical: StructType) =>
            below(inLogical, inPhysical, parts.tail).map { column =>
              column.copy(logical(i).name +: column.name, physical(i).name +: column.path)
            }
          case _ => None
        }
      }
    below(metadata.schema, of(metadata.schema, metadata), parts)
  }
}

/**
 * @param name parts of its name in the table
 * @param path the same in data files
 */
private[upkeep] final case class StoredColumn(name: Seq[String], path: Seq[String], dataType: DataType)
