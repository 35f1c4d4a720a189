package io.deltaupkeep.parquet.footer

import scala.util.Try

import io.deltaupkeep.parquet.bytes.ParquetApi

import org.apache.parquet.{CorruptDeltaByteArrays, SemanticVersion, VersionParser}
import org.apache.parquet.schema.{LogicalTypeAnnotation, PrimitiveType}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * The program that wrote a file, if the file names it (Parquet format, 'FileMetaData.created_by'). Readers
 * work around the defects of some programs, but a new file has another name.
 *
 * @param createdBy empty if the file does not name it
 */
private[parquet] final class WrittenBy(createdBy: String) {
  import WrittenBy._

  // Example: parquet-mr version 1.10.1 (build a89df8f9932b6ef6633d06069e50c9b7970bebd1)
  private val application = Try(VersionParser.parse(createdBy)).toOption
  private val name = application.map(_.application)
  private val version =
    application.filter(_.hasSemanticVersion).flatMap(app => Option(app.getSemanticVersion))

  /** Also true of a program that does not name itself. */
  private def isParquetJavaBefore(fix: SemanticVersion): Boolean =
    name.fold(createdBy.isEmpty || isParquetJava)(_ == ParquetJava) && version.forall(_.compareTo(fix) < 0)

  private def is(program: String, since: SemanticVersion): Boolean =
    name.contains(program) && version.exists(_.compareTo(since) >= 0)

  private def isBefore(program: String, fix: SemanticVersion): Boolean =
    name.contains(program) && version.forall(_.compareTo(fix) < 0)

  /**
   * Whether the minimum and maximum of a column bound all of its values. Many writers leave NaN out, some compared
   * the bytes of decimals as unsigned, two took a shorter string for the lesser one or for the same, and one orders
   * categories as they were declared. Only writers that were looked at are relied on for strings.
   */
  def boundsAll(column: PrimitiveType): Boolean =
    if (name.exists(_.startsWith(FastParquet))) false
    else if (isFloating(column)) is(ParquetJava, TypedBounds) && isBefore(ParquetJava, CountedNans)
    else if (isDecimalInBytes(column)) is(ParquetJava, TypedBounds) || is(ArrowCpp, DecimalOrder)
    else if (isInBytes(column)) ordersStrings
    else true

  private def ordersStrings: Boolean =
    isParquetJava || name.exists(known => known.startsWith(ParquetCpp) || known == DuckDB) ||
      is(ArrowRust, StringOrder) || Polars.exists(is(_, PrefixOrder))

  /** Whether pages of version 2 may be compressed although their headers say otherwise (ARROW-10353). */
  def hidesCompression: Boolean = name.contains(ParquetCpp) || isBefore(ArrowCpp, TrueCompression)

  /**
   * Whether DELTA_BINARY_PACKED pages of INT32 may have deltas of more than 32 bits. The format lets them overflow;
   * Arrow C++ does not read such pages, others do.
   */
  def widensDeltas: Boolean = name.contains(DuckDB)

  /** Why a chunk needs a reader that knows its writer, or None. */
  def defectOf(chunk: ChunkMeta): Option[String] =
    if (chunk.encodings.exists(CorruptDeltaByteArrays.requiresSequentialReads(createdBy, _)))
      Some(s"DELTA_BYTE_ARRAY pages by $described may need those before them (PARQUET-246)")
    else if (chunk.encodings.exists(_.usesDictionary) && isParquetJavaBefore(SizeWithDictionary))
      Some(s"sizes of chunks by $described may leave out their dictionaries (PARQUET-816)")
    else None

  /** Whether a null struct counts as a null of each of its fields. Others, such as Photon, only resemble it. */
  def countsNullParents: Boolean = name.contains(ParquetJava)

  /** Whether Spark and Hive read its INT96 timestamps like those of parquet-java, which are in UTC. */
  def isParquetJava: Boolean = createdBy.startsWith(ParquetJava)

  def described: String = if (createdBy.isEmpty) "an unknown writer" else s"'$createdBy'"
}

private object WrittenBy {
  private val ParquetJava = "parquet-mr"

  /** Arrow C++ until 2.0; all its releases call themselves parquet-cpp 1.x. */
  private val ParquetCpp = "parquet-cpp"

  /** Arrow C++ since 3.0 (January 2021). */
  private val ArrowCpp = "parquet-cpp-arrow"
  private val ArrowRust = "parquet-rs"
  private val DuckDB = "DuckDB"
  private val FastParquet = "fastparquet"
  private val Polars = Seq("Polars", "Polars (python)")

  /**
   * Since parquet-java 1.10.0 (April 2018) values are compared by type (PARQUET-1025): decimals are signed, and NaN is
   * the greatest value, so readers ignore bounds that are NaN.
   */
  private val TypedBounds = new SemanticVersion(1, 10, 0)

  /** Since parquet-java 1.18.0 (August 2026) bounds leave NaN out, and `nan_count` tells of it. */
  private val CountedNans = new SemanticVersion(1, 18, 0)

  /** PARQUET-816: Arrow and Impala read extra bytes in files by parquet-java before 1.2.9 (October 2013). */
  private val SizeWithDictionary = new SemanticVersion(1, 2, 9)

  /** PARQUET-1655: fixed in Arrow 4.0.0 (April 2021). */
  private val DecimalOrder = new SemanticVersion(4, 0, 0)

  /** ARROW-10353: fixed in Arrow 3.0.0 (January 2021). */
  private val TrueCompression = new SemanticVersion(3, 0, 0)

  /** arrow-rs issue 641: fixed in 5.2.0 (August 2021). */
  private val StringOrder = new SemanticVersion(5, 2, 0)

  /** Polars 1.x took `abc` and `abc0` for the same when it put the bounds of pages together. */
  private val PrefixOrder = new SemanticVersion(2, 1, 0)

  private def isFloating(column: PrimitiveType): Boolean =
    column.getPrimitiveTypeName == PrimitiveTypeName.FLOAT ||
      column.getPrimitiveTypeName == PrimitiveTypeName.DOUBLE ||
      ParquetApi.isFloat16(column.getLogicalTypeAnnotation)

  private def isDecimalInBytes(column: PrimitiveType): Boolean =
    column.getLogicalTypeAnnotation.isInstanceOf[LogicalTypeAnnotation.DecimalLogicalTypeAnnotation] &&
      isInBytes(column)

  private def isInBytes(column: PrimitiveType): Boolean =
    column.getPrimitiveTypeName == PrimitiveTypeName.BINARY ||
      column.getPrimitiveTypeName == PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY
}
