package io.deltaupkeep

import java.io.{ByteArrayInputStream, DataInputStream}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.hadoop.ParquetWriter
import org.apache.parquet.hadoop.api.WriteSupport
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.util.HadoopOutputFile
import org.apache.parquet.io.api.{Binary, RecordConsumer}
import org.apache.parquet.schema.MessageType

/** parquet-java's own writer, for any schema: rows come as the calls that a `RecordConsumer` gets, one byte each. */
object ForeignParquet {

  private val EndMessage = 'e'.toByte

  def write(
      path: String,
      schema: MessageType,
      codec: String,
      version: String,
      dictionary: Boolean,
      pageSize: Int,
      rowGroupSize: Int,
      rows: Int,
      calls: Array[Byte]
  ): Unit = {
    val in = new DataInputStream(new ByteArrayInputStream(calls))
    val writer = new Builder(new Path(path), schema)
      .withCompressionCodec(CompressionCodecName.valueOf(codec))
      .withWriterVersion(WriterVersion.fromString(version))
      .withDictionaryEncoding(dictionary)
      .withPageSize(pageSize)
      .withRowGroupSize(rowGroupSize.toLong)
      .withMinRowCountForPageSizeCheck(1)
      .build()
    try (0 until rows).foreach(_ => writer.write(in))
    finally writer.close()
  }

  private final class Builder(path: Path, schema: MessageType)
      extends ParquetWriter.Builder[DataInputStream, Builder](HadoopOutputFile.fromPath(
        path,
        new Configuration()
      )) {
    override def self(): Builder = this
    override def getWriteSupport(conf: Configuration): WriteSupport[DataInputStream] = new Calls(schema)
  }

  private final class Calls(schema: MessageType) extends WriteSupport[DataInputStream] {
    private var to: RecordConsumer = _

    override def init(conf: Configuration): WriteSupport.WriteContext =
      new WriteSupport.WriteContext(schema, java.util.Map.of())

    override def prepareForWrite(consumer: RecordConsumer): Unit = to = consumer

    override def write(in: DataInputStream): Unit = {
      to.startMessage()
      Iterator.continually(in.readByte()).takeWhile(_ != EndMessage).foreach(call(_, in))
      to.endMessage()
    }

    private def call(name: Byte, in: DataInputStream): Unit = name.toChar match {
      case '<' => to.startField(in.readUTF(), in.readInt())
      case '>' => to.endField(in.readUTF(), in.readInt())
      case '(' => to.startGroup()
      case ')' => to.endGroup()
      case 'b' => to.addBoolean(in.readBoolean())
      case 'i' => to.addInteger(in.readInt())
      case 'l' => to.addLong(in.readLong())
      case 'f' => to.addFloat(in.readFloat())
      case 'd' => to.addDouble(in.readDouble())
      case 's' => to.addBinary(Binary.fromConstantByteArray(in.readNBytes(in.readInt())))
    }
  }
}
