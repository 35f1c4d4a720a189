package io.deltaupkeep.parquet

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path}

import org.apache.parquet.format.{FileMetaData, Util}

/** Makes files say of themselves what other writers say. */
object Footers {

  def read(file: Path): FileMetaData = {
    val bytes = Files.readAllBytes(file)
    val start = startOf(bytes)
    Util.readFileMetaData(new ByteArrayInputStream(bytes, start, bytes.length - 8 - start))
  }

  private def startOf(bytes: Array[Byte]): Int =
    bytes.length - 8 - ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8)

  /** Changes the footer of a file in place. */
  def change(file: Path)(by: FileMetaData => Unit): Unit = rewrite(file) { (footer, bytes) =>
    by(footer)
    bytes
  }

  /** Changes the footer, and what stands before it. */
  def rewrite(file: Path)(by: (FileMetaData, Array[Byte]) => Array[Byte]): Unit = {
    val bytes = Files.readAllBytes(file)
    val metadata = read(file)
    val before = by(metadata, bytes.take(startOf(bytes)))
    val footer = new ByteArrayOutputStream
    Util.writeFileMetaData(metadata, footer)
    val end = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(footer.size).put("PAR1".getBytes)
    Files.write(file, before ++ footer.toByteArray ++ end.array)
    // Hadoop's own checksum would find it out.
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    ()
  }
}
