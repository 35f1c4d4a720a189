package io.deltaupkeep.parquet

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path}

import org.apache.parquet.format.{FileMetaData, Util}

/** Makes files say of themselves what other writers say. */
object Footers {

  /** Changes the footer of a file in place. */
  def change(file: Path)(by: FileMetaData => Unit): Unit = {
    val bytes = Files.readAllBytes(file)
    val length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8)
    val start = bytes.length - 8 - length
    val metadata = Util.readFileMetaData(new ByteArrayInputStream(bytes, start, length))
    by(metadata)
    val footer = new ByteArrayOutputStream
    Util.writeFileMetaData(metadata, footer)
    val end = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(footer.size).put("PAR1".getBytes)
    Files.write(file, bytes.take(start) ++ footer.toByteArray ++ end.array)
    // Hadoop's own checksum would find it out.
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    ()
  }
}
