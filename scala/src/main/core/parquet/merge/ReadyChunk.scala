package io.deltaupkeep.parquet.merge

import io.deltaupkeep.parquet.footer.ChunkFacts

import org.apache.parquet.hadoop.ParquetFileWriter

/** A column chunk of the output, ready to be written. */
private[parquet] trait ReadyChunk {

  /** What is known of its values; None if its values were not looked at. */
  def knownFacts: Option[ChunkFacts]

  def write(to: ParquetFileWriter): Unit
}
