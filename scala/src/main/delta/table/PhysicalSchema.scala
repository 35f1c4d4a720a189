package org.apache.spark.sql.delta.upkeep.table

import org.apache.spark.sql.delta.DeltaColumnMapping
import org.apache.spark.sql.delta.actions.Metadata
import org.apache.spark.sql.types.StructType

/** Columns by the names and ids that they have in data files. */
private[upkeep] object PhysicalSchema {

  def of(columns: StructType, metadata: Metadata): StructType =
    DeltaColumnMapping.createPhysicalSchema(columns, metadata.schema, metadata.columnMappingMode)
}
