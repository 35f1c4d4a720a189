package io.deltaupkeep.parquet.plan

import scala.jdk.CollectionConverters._

import io.deltaupkeep.ByteText
import io.deltaupkeep.parquet.encoding.Compression
import io.deltaupkeep.parquet.footer.{FileFacts, OpenFile, RowGroup}

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.schema.MessageType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * Plans the output of one bin from the footers of its files, in order. Pure.
 *
 * @param table      schema of the table's data columns, as its own writer would store them
 * @param isReadable None if the footer of a file allows its pages to be taken as they are; else the reason
 * @param constants  columns that have one value in all rows, whatever the files have: PLAIN, or None for null
 */
private[parquet] final class SplicePlanner(
    table: MessageType,
    settings: SpliceSettings,
    isReadable: FileFacts => Option[String],
    constants: Map[String, Option[Array[Byte]]] = Map.empty
) {
  private val matching = FieldMatching(settings.matchById)
  private val groups = new RowGroupPlanner(settings)
  private var schema: Option[MessageType] = None

  /** The schema of the output, once a file was added. */
  def output: MessageType = schema.getOrElse(table)

  /** The output row groups that this file completes, or why it cannot be spliced and is ignored. */
  def add(file: OpenFile): Either[String, Seq[PlannedRowGroup]] = {
    val before = schema
    val refusal = isReadable(file)
      .orElse(defect(file))
      .orElse(mismatch(file))
      .orElse(sharedName)
      .orElse(tooLarge(file))
    if (refusal.nonEmpty && before.isEmpty) {
      schema = None
      lastSchema = None
    }
    refusal.toLeft(groups.add(file))
  }

  def finish(): Seq[PlannedRowGroup] = groups.finish().toSeq

  /** Readers work around the defects of some writers. Under another writer's name they would not. */
  private def defect(file: OpenFile): Option[String] =
    if (
      settings.shiftsForeignInt96 && !file.writtenBy.isParquetJava && file.schema.getColumns.asScala.exists(
        isInt96
      )
    )
      Some(
        s"INT96 timestamps by ${file.writtenBy.described} are shifted (spark.sql.parquet.int96TimestampConversion)"
      )
    else file.chunks.flatMap(file.writtenBy.defectOf(_)).nextOption()

  private def isInt96(column: ColumnDescriptor): Boolean =
    column.getPrimitiveType.getPrimitiveTypeName == PrimitiveTypeName.INT96

  private def mismatch(file: OpenFile): Option[String] = {
    if (schema.isEmpty)
      schema = Some(
        if (settings.keepsForms) OutputSchema.adopt(table, file.schema, matching, constants.keySet) else table
      )
    lacksIds(file).orElse(sources(file).left.toOption)
  }

  /** Readers that look for ids refuse such a file, or read nulls. */
  private def lacksIds(file: OpenFile): Option[String] =
    Option.when(settings.matchById && !NestedTypes.hasIds(file.schema)) {
      "its columns have no field ids, by which the table finds them"
    }

  /**
   * parquet-java's writer keys Bloom filters by the dotted name of the column, so a filter could go to the
   * wrong column.
   */
  private lazy val sharedName: Option[String] =
    output.getPaths.asScala
      .groupBy(_.mkString("."))
      .collectFirst { case (name, paths) if paths.size > 1 => s"two columns have the name $name" }

  // Most files of a table have one schema.
  private var lastSchema: Option[MessageType] = None
  private var lastSources: Either[String, IndexedSeq[ColumnSource]] = Right(IndexedSeq.empty)

  private def sources(file: OpenFile): Either[String, IndexedSeq[ColumnSource]] = {
    if (!lastSchema.exists(last => (last eq file.schema) || last == file.schema)) {
      lastSources = ColumnSources.of(output, file.schema, matching, constants, settings.lacking)
      lastSchema = Some(file.schema)
    }
    lastSources
  }

  /** Why a row group of the file cannot be held in memory, or a chunk of it cannot be read. */
  private def tooLarge(file: OpenFile): Option[String] = {
    val limit = math.min(settings.heldRowGroupBytes, PlannedChunk.MostBytes)
    file.rowGroups.iterator.filter(_.compressedBytes > limit).flatMap(tooLarge(_)).nextOption()
  }

  private def tooLarge(group: RowGroup): Option[String] = {
    val chunks = chunksOf(PlannedRowGroup(Vector(group)))
    val held = heldOf(chunks)
    chunks.find(_.bytesToRead > PlannedChunk.MostBytes) match {
      case Some(chunk) =>
        Some(s"column ${chunk.name} takes ${ByteText.of(chunk.bytesToRead)} of a row group, more than 2 GiB")
      case None if held.iterator.map(_.bytesToRead).sum > settings.heldRowGroupBytes =>
        val largest = held.maxBy(_.bytesToRead)
        Some(
          s"a row group of ${ByteText.of(group.compressedBytes)} can be neither copied nor held in memory, because " +
            s"column ${largest.name} ${largest.whyNotCopied}"
        )
      case None => None
    }
  }

  /** Chunks whose bytes are held at the same time, besides the new ones: each thread recompresses one chunk. */
  private def heldOf(chunks: Seq[PlannedChunk]): Seq[PlannedChunk] = {
    val (recompressed, others) =
      chunks.filterNot(_.tier == ChunkTier.Copy).partition(_.tier == ChunkTier.Recompress)
    others ++ recompressed.sortBy(-_.bytesToRead).take(settings.threads)
  }

  /** The columns of a row group. */
  def chunksOf(group: PlannedRowGroup): IndexedSeq[PlannedChunk] = {
    val sourcesOfParts = group.parts.map(part => part -> sourcesOf(part.file))
    output.getColumns.asScala.toVector.zipWithIndex.map { case (column, index) =>
      val path = column.getPath.toSeq
      val parts = sourcesOfParts.map { case (part, all) => ChunkPart(part, all(index), part.file.fill(path)) }
      PlannedChunk(column, NestedTypes.collectionLevel(output, column), parts, tierOf(group, parts))
    }
  }

  private def sourcesOf(file: OpenFile): IndexedSeq[ColumnSource] =
    sources(file).getOrElse(throw new IllegalStateException("A file whose columns do not match was planned"))

  // A small chunk without a page index gets one. For a large chunk that is not worth decoding its pages.
  private def tierOf(group: PlannedRowGroup, parts: IndexedSeq[ChunkPart]): ChunkTier =
    if (group.isAlone && isCopied(parts.head) && (isLarge(group) || parts.head.hasPageIndex))
      if (hasOtherCodec(parts.head)) ChunkTier.Recompress else ChunkTier.Copy
    else if (parts.exists(part => part.foreignEncodings.nonEmpty || part.convertedFrom.nonEmpty))
      ChunkTier.Transcode
    else ChunkTier.Splice

  private def isCopied(part: ChunkPart): Boolean = part.isCopyable && part.misread.isEmpty

  private def hasOtherCodec(part: ChunkPart): Boolean =
    settings.recompresses && part.chunk.exists(_.codec != settings.codec)

  private def isLarge(group: PlannedRowGroup): Boolean =
    group.parts.head.uncompressedBytes >= settings.copyFromBytes

  /** The most expensive tier that a row group needs and why, if it is not copied. */
  def reasonOf(group: PlannedRowGroup, chunks: Seq[PlannedChunk]): Option[(ChunkTier, String)] = {
    val transcoded = chunks.find(_.tier == ChunkTier.Transcode).map { chunk =>
      chunk.parts.iterator.flatMap(_.convertedFrom).nextOption() match {
        case Some(stored) =>
          val (from, to) =
            (ColumnSources.describe(stored), ColumnSources.describe(chunk.column.getPrimitiveType))
          s"column ${chunk.name} is $from in a file, and becomes $to"
        case None =>
          val encodings = chunk.parts.iterator.map(_.foreignEncodings).find(_.nonEmpty).toSeq.flatten
          s"column ${chunk.name} is encoded as ${encodings.map(_.name).mkString(", ")}"
      }
    }
    def spliced = chunks.exists(chunk => chunk.tier == ChunkTier.Splice && chunk.parts.exists(_.isPresent))
    def recompressed = {
      val found = chunks.filter(_.tier == ChunkTier.Recompress).flatMap(_.parts.head.chunk).map(_.codec).toSet
      Option.when(found.nonEmpty)(ChunkTier.Recompress -> Compression.difference(found, settings.codec))
    }
    transcoded match {
      case Some(why) => Some(ChunkTier.Transcode -> why)
      case None if !spliced => recompressed
      case None if group.isAlone && group.parts.head.isCut =>
        Some(ChunkTier.Splice -> "deleted rows are left out")
      case None if group.isAlone =>
        Some(ChunkTier.Splice -> "a column has no page index, or other levels than the table's")
      case None => Some(ChunkTier.Splice -> "small row groups are merged")
    }
  }
}
