package io.deltaupkeep.parquet.bytes

import org.apache.parquet.column.Encoding
import org.apache.parquet.format.{CompressionCodec, Encoding => EncodingNumber}
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/** What the numbers in Parquet's metadata stand for. */
private[parquet] object FormatNames {

  private val encodings = tableOf(EncodingNumber.values.map(e => e.getValue -> Encoding.valueOf(e.name)))
  private val codecs =
    tableOf(CompressionCodec.values.map(c => c.getValue -> CompressionCodecName.fromParquet(c)))

  def encoding(number: Int): Encoding = find(encodings, number, "encoding")

  def codec(number: Int): CompressionCodecName = find(codecs, number, "codec")

  private def tableOf[T](pairs: Array[(Int, T)]): IndexedSeq[Option[T]] = {
    val byNumber = pairs.toMap
    (0 to byNumber.keys.max).map(byNumber.get)
  }

  private def find[T](table: IndexedSeq[Option[T]], number: Int, what: String): T =
    table.lift(number).flatten.getOrElse(throw new MalformedPage(s"$what $number is unknown"))
}
