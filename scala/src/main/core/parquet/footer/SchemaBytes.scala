package io.deltaupkeep.parquet.footer

import java.io.ByteArrayOutputStream
import java.util.Collections

import io.deltaupkeep.parquet.bytes.Slice

import org.apache.parquet.format.Util
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.metadata.{BlockMetaData, FileMetaData, ParquetMetadata}
import org.apache.parquet.schema.MessageType

/**
 * A schema that can be sent to other processes, encoded as in a footer. Its text form cannot hold names such
 * as `a b` or `x=1`.
 */
final class SchemaBytes private (bytes: Array[Byte]) extends Serializable {

  def schema: MessageType = new FooterBytes(Slice(bytes, 0), bytes.length)
    .parse(ParquetMetadataConverter.SKIP_ROW_GROUPS)
    .getFileMetaData
    .getSchema
}

object SchemaBytes {

  def of(schema: MessageType): SchemaBytes = {
    val noRows = new ParquetMetadata(
      new FileMetaData(schema, Collections.emptyMap[String, String], null),
      Collections.emptyList[BlockMetaData]
    )
    val bytes = new ByteArrayOutputStream
    Util.writeFileMetaData(new ParquetMetadataConverter().toParquetMetadata(1, noRows), bytes)
    new SchemaBytes(bytes.toByteArray)
  }
}
