package io.deltaupkeep.parquet.encoding

import java.util.Locale

import org.apache.parquet.hadoop.codec.ZstandardCodec
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.metadata.CompressionCodecName._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.io.compress.zlib.ZlibCompressor.CompressionLevel
import org.apache.hadoop.io.compress.zlib.ZlibFactory

/**
 * How the pages of new files are compressed.
 *
 * @param level if None, as the session's settings or the codec's library say
 */
final case class Compression(codec: CompressionCodecName, level: Option[Int] = None) {
  import Compression._

  /** As Spark's and Delta's settings spell it. */
  def codecName: String = codec.name.toLowerCase(Locale.ROOT)

  def text: String = codecName + level.fold("")(n => s" (level $n)")

  /** The level, where parquet-java and Hadoop look for it. */
  def hadoopSettings: Map[String, String] = (codec, level) match {
    case (ZSTD, Some(n)) => Map(ZstandardCodec.PARQUET_COMPRESS_ZSTD_LEVEL -> n.toString)
    case (GZIP, Some(n)) => Map(GzipLevel -> ofGzip(n).name)
    case _ => Map.empty
  }
}

object Compression {

  /** Hadoop's setting for gzip; its value is the name of a level. */
  private val GzipLevel = "zlib.compress.level"

  private val ofGzip: Int => CompressionLevel = IndexedSeq(
    CompressionLevel.NO_COMPRESSION,
    CompressionLevel.BEST_SPEED,
    CompressionLevel.TWO,
    CompressionLevel.THREE,
    CompressionLevel.FOUR,
    CompressionLevel.FIVE,
    CompressionLevel.SIX,
    CompressionLevel.SEVEN,
    CompressionLevel.EIGHT,
    CompressionLevel.BEST_COMPRESSION
  )

  /** Why pages are compressed again. */
  def difference(found: Set[CompressionCodecName], asked: CompressionCodecName): String =
    s"pages are compressed as ${found.map(_.name).toSeq.sorted.mkString(" and ")}, not as $asked"

  /** The levels that a codec has; empty if it has none. */
  def levelsOf(codec: CompressionCodecName): Range = codec match {
    case ZSTD => 1 to 22
    case GZIP => 1 to 9
    case _ => Range(0, 0)
  }

  /** The level of gzip in a configuration, as zlib counts; None for its default. */
  private[encoding] def gzipLevel(conf: Configuration): Option[Int] = {
    val level = ZlibFactory.getCompressionLevel(conf)
    (0 to 9).find(ofGzip(_) == level)
  }
}
