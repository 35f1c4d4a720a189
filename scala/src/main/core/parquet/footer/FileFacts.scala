package io.deltaupkeep.parquet.footer

import java.util.concurrent.TimeUnit.MILLISECONDS

import scala.jdk.CollectionConverters._

import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ParquetMetadata}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/** What a file says of itself in its footer. */
trait FileFacts {
  def keyValues: Map[String, String]

  /** One for each chunk of dates or timestamps with values. Parses the whole footer. */
  def leastTimes: Seq[LeastTime]
}

/** The earliest value of a column chunk. */
sealed trait LeastTime

object LeastTime {

  /** A date, in days since the epoch. */
  final case class Day(days: Long) extends LeastTime

  /** A timestamp, in microseconds since the epoch. */
  final case class Instant(micros: Long) extends LeastTime

  /** The footer does not have it, or its type has no order. */
  case object Unknown extends LeastTime

  private[parquet] def of(footer: ParquetMetadata): Seq[LeastTime] =
    footer.getBlocks.asScala.toSeq.flatMap(_.getColumns.asScala.toSeq).flatMap(of(_))

  private def of(chunk: ColumnChunkMetaData): Option[LeastTime] =
    reader(chunk.getPrimitiveType).filterNot(_ => isNull(chunk)).map { read =>
      Option(chunk.getStatistics).filter(_.hasNonNullValue).map(_.genericGetMin) match {
        case Some(least: Number) => read(least.longValue)
        case _ => Unknown
      }
    }

  private def isNull(chunk: ColumnChunkMetaData): Boolean =
    Option(chunk.getStatistics).exists(found =>
      found.isNumNullsSet && found.getNumNulls == chunk.getValueCount
    )

  /** None for a type that is neither a date nor a timestamp. */
  private def reader(primitive: PrimitiveType): Option[Long => LeastTime] =
    (primitive.getPrimitiveTypeName, primitive.getLogicalTypeAnnotation) match {
      case (PrimitiveTypeName.INT96, _) => Some(_ => Unknown)
      case (_, _: DateLogicalTypeAnnotation) => Some(Day(_))
      case (_, time: TimestampLogicalTypeAnnotation) =>
        time.getUnit match {
          case TimeUnit.MICROS => Some(Instant(_))
          case TimeUnit.MILLIS => Some(millis => Instant(MILLISECONDS.toMicros(millis)))
          case TimeUnit.NANOS => Some(_ => Unknown)
        }
      case _ => None
    }
}
