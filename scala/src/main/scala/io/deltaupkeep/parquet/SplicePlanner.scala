package io.deltaupkeep.parquet

import org.apache.parquet.column.Encoding
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.schema.MessageType

/**
 * Plans the output of one bin from the footers of its files, in their order. Pure.
 *
 * @param table      schema of the table's data columns, as its own writer would store them
 * @param isReadable whether a file's key-value metadata allow its pages to be taken as they are; else the reason
 */
private[parquet] final class SplicePlanner(
    table: MessageType,
    settings: SpliceSettings,
    isReadable: Map[String, String] => Option[String]
) {
  import SplicePlanner._

  private val matching = FieldMatching(settings.matchById)
  private val groups = new RowGroupPlanner(settings)
  private var schema: Option[MessageType] = None

  /** The schema of the output, once a file was added. */
  def output: MessageType = schema.getOrElse(table)

  /** The row groups that are complete with this file, or why the bin cannot be spliced. */
  def add(file: OpenFile): Either[String, Seq[PlannedRowGroup]] =
    isReadable(file.keyValues).orElse(mismatch(file)).toLeft(groups.add(file))

  def finish(): Seq[PlannedRowGroup] = groups.finish().toSeq

  def sourcesOf(file: OpenFile): IndexedSeq[ColumnSource] =
    sources(file).getOrElse(throw new IllegalStateException("A file whose columns do not match was planned"))

  private def mismatch(file: OpenFile): Option[String] = {
    if (schema.isEmpty) schema = Some(OutputSchema.adopt(table, file.schema, matching))
    sources(file).left.toOption
  }

  // Most files of a table have one schema.
  private var lastSchema: Option[MessageType] = None
  private var lastSources: Either[String, IndexedSeq[ColumnSource]] = Right(IndexedSeq.empty)

  private def sources(file: OpenFile): Either[String, IndexedSeq[ColumnSource]] = {
    if (!lastSchema.contains(file.schema)) {
      lastSources = ColumnSources.of(output, file.schema, matching)
      lastSchema = Some(file.schema)
    }
    lastSources
  }

  /** What is to be done to the chunk of a column in a row group; None where the file lacks the column. */
  def tierOf(group: PlannedRowGroup, part: RowGroup, source: ColumnSource): Option[ChunkTier] = source match {
    case ColumnSource.Present(index, _, _, copyable) =>
      val chunk = part.chunk(index)
      Some(
        if (group.isAlone && copyable && (isLarge(part) || hasPageIndex(chunk))) ChunkTier.Copy
        else if (foreignEncodings(chunk).nonEmpty) ChunkTier.Transcode
        else ChunkTier.Splice
      )
    case _ => None
  }

  // A small chunk without a page index gets one; to decode the pages of a large one for it is not worth it.
  private def isLarge(part: RowGroup): Boolean = part.uncompressedBytes >= settings.copyFromBytes

  /** Why a group is not copied, where it is not. */
  def reasonOf(group: PlannedRowGroup): Option[(ChunkTier, String)] = {
    val tiers = for {
      part <- group.parts.iterator
      source <- sourcesOf(part.file).iterator
      tier <- tierOf(group, part, source)
    } yield (tier, source, part)
    tiers.foldLeft(Option.empty[(ChunkTier, String)]) {
      case (Some(found @ (ChunkTier.Transcode, _)), _) => Some(found)
      case (_, (ChunkTier.Transcode, ColumnSource.Present(index, column, _, _), part)) =>
        val names = foreignEncodings(part.chunk(index)).mkString(", ")
        Some(ChunkTier.Transcode -> s"column ${column.getPath.mkString(".")} is encoded as $names")
      case (None, (ChunkTier.Splice, _, _)) if group.isAlone =>
        Some(ChunkTier.Splice -> "a column has no page index, or other levels than the table's")
      case (None, (ChunkTier.Splice, _, _)) => Some(ChunkTier.Splice -> "small row groups are merged")
      case (found, _) => found
    }
  }
}

private[parquet] object SplicePlanner {

  private val Foreign = Seq(
    Encoding.DELTA_BINARY_PACKED,
    Encoding.DELTA_LENGTH_BYTE_ARRAY,
    Encoding.DELTA_BYTE_ARRAY,
    Encoding.BYTE_STREAM_SPLIT
  )

  private def hasPageIndex(chunk: ColumnChunkMetaData): Boolean = chunk.getOffsetIndexReference != null

  /** Encodings of a chunk's values that have to be decoded, by name. */
  private def foreignEncodings(chunk: ColumnChunkMetaData): Seq[String] =
    Foreign.filter(chunk.getEncodings.contains(_)).map(_.name)
}
