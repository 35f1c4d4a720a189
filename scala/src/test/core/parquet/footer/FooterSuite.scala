package io.deltaupkeep.parquet.footer

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.US_ASCII

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.deltaupkeep.parquet.{DrawnValues, ThriftValue}
import io.deltaupkeep.parquet.ThriftValue.{blob, replaced, without, I32, I64, Items, Struct}
import io.deltaupkeep.parquet.bytes.{FileBytes, MalformedPage}

import org.apache.parquet.format._
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ParquetMetadata}
import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite

/** Of a footer we read what parquet-java reads. */
class FooterSuite extends AnyFunSuite with DrawnValues {
  import FooterSuite._

  test("a footer says what it says to parquet-java") {
    forDrawn(footers) { stored =>
      val bytes = bytesOf(stored)
      val ours = Footer.read(bytes, 0, bytes.length)
      val theirs = new ParquetMetadataConverter().fromParquetMetadata(read(bytes))
      assert(ours.keyValues == theirs.getFileMetaData.getKeyValueMetaData.asScala)
      assert(ours.createdBy == Option(theirs.getFileMetaData.getCreatedBy).getOrElse(""))
      assert(!ours.isEncrypted)
      assert(ours.rowGroups == rowGroupsOf(theirs))
    }
  }

  test("it is read wherever it lies, and whatever lies around it") {
    forDrawn(Gen.zip(footers, Gen.choose(1, 20))) { case (stored, offset) =>
      val bytes = bytesOf(stored)
      val around = Array.fill(offset)(0x15.toByte) ++ bytes ++ Array.fill(offset)(0x15.toByte)
      assert(Footer.read(around, offset, bytes.length) == Footer.read(bytes, 0, bytes.length))
    }
  }

  test("fields that the format did not know are left out") {
    val unknown = Gen.listOfN(Extended.size, ThriftValue.structs(depth = 2))
    forDrawn(Gen.zip(footers, unknown)) { case (stored, fields) =>
      val known = ThriftValue.read(bytesOf(stored))
      val later = Extended.zip(fields).foldLeft(known) { case (root, (path, more)) =>
        ThriftValue.change(root, path: _*)(struct =>
          Struct(struct.fields ++ more.fields.zipWithIndex.map { case ((_, v), i) => (100 + 20 * i) -> v })
        )
      }
      val bytes = ThriftValue.write(later)
      assert(read(bytes) == stored)
      assert(footerOf(later) == footerOf(known))
    }
  }

  test("a footer that is cut off is refused, wherever it is cut") {
    def refuse(bytes: Array[Byte], length: Int) = intercept[MalformedPage](Footer.read(bytes, 0, length))
    val bytes = ThriftValue.write(full)
    bytes.indices.foreach(refuse(bytes, _))
    forDrawn(Gen.zip(footers, Gen.choose(0d, 1d))) { case (stored, share) =>
      val bytes = bytesOf(stored)
      refuse(bytes, ((bytes.length - 1) * share).toInt)
    }
  }

  test("equal schemas are equal bytes, and others are not") {
    def schemaOf(stored: FileMetaData): ByteBuffer = {
      val bytes = bytesOf(stored)
      Footer.read(bytes, 0, bytes.length).schema
    }
    forDrawn(Gen.zip(footers, footers)) { case (one, other) =>
      val sameSchema = other.deepCopy.setSchema(one.getSchema)
      if (one.isSetColumn_orders) sameSchema.setColumn_orders(one.getColumn_orders)
      else sameSchema.unsetColumn_orders()
      assert(schemaOf(sameSchema) == schemaOf(one))
      val same = one.getSchema == other.getSchema && one.getColumn_orders == other.getColumn_orders
      assert((schemaOf(one) == schemaOf(other)) == same)
      val renamed = one.deepCopy
      renamed.getSchema.get(0).setName("another name")
      assert(schemaOf(renamed) != schemaOf(one))
    }
  }

  /** A footer of two row groups of two columns, with all that it may say. */
  private lazy val full = {
    val columns = Seq("a", "b").map(columnOf)
    val orders = columns.map(_ => ColumnOrder.TYPE_ORDER(new TypeDefinedOrder()))
    val groups = Seq(5L, 7L).map(rows => new RowGroup(columns.map(chunkOf(rows, _)).asJava, 100, rows))
    val stored = new FileMetaData(2, schemaOf(columns).asJava, 12, groups.asJava)
      .setCreated_by("a writer")
      .setKey_value_metadata(Seq(new KeyValue("k").setValue("v")).asJava)
      .setColumn_orders(orders.asJava)
    ThriftValue.read(bytesOf(stored))
  }

  test("what the format requires is missed by us as by parquet-java") {
    val required = Seq(
      (Nil, Seq(1, 2, 3, 4)),
      (RowGroups, Seq(1, 2, 3)),
      (Columns, Seq(1, 2, 3, 4, 5, 6, 7, 9))
    )
    forRows(required) { case (struct, fields) =>
      fields.foreach { field =>
        val lacking = without(full, struct, field)
        assert(lacking != full)
        assert(Try(read(ThriftValue.write(lacking))).isFailure)
        withClue(s"field $field: ")(intercept[MalformedPage](footerOf(lacking)))
      }
    }
  }

  test("what the format does not require may be missing") {
    val whole = footerOf(full)
    val optional = Seq(
      (Nil, 5, whole.copy(keyValues = Map.empty)),
      (Nil, 6, whole.copy(createdBy = "")),
      (Seq(5), 2, whole.copy(keyValues = Map("k" -> ""))),
      (Chunks, 4, changed(whole)(_.copy(hasPageIndex = false))),
      (Columns, 11, changed(whole)(_.copy(start = 1000))),
      (Columns, 12, changed(whole)(_.copy(nulls = -1))),
      (Columns :+ 12, 3, changed(whole)(_.copy(nulls = -1))),
      (Columns, 14, changed(whole)(_.copy(bloomFilterOffset = -1)))
    )
    forRows(optional) { case (struct, field, footer) =>
      val lacking = without(full, struct, field)
      read(ThriftValue.write(lacking))
      assert(footer != whole)
      assert(footerOf(lacking) == footer)
    }
  }

  test("a dictionary lies before the first page, whatever its offset is said to be") {
    forRows(Seq(
      (-1L, 1000L),
      (0L, 1000L),
      (4L, 4L),
      (999L, 999L),
      (1000L, 1000L),
      (2000L, 1000L)
    )) { case (dictionary, start) =>
      val told = replaced(full, Columns, 11, I64(dictionary))
      assert(footerOf(told) == changed(footerOf(full))(_.copy(start = start)))
      val theirs = new ParquetMetadataConverter().fromParquetMetadata(read(ThriftValue.write(told)))
      assert(theirs.getBlocks.asScala.flatMap(_.getColumns.asScala).map(_.getStartingPos).toSet == Set(start))
    }
  }

  test("what contradicts itself is refused, and so is what we do not know") {
    val ofAnotherFile: Struct =
      ThriftValue.change(full, Chunks: _*)(chunk => Struct((1 -> blob("other")) +: chunk.fields))
    val cases = Seq(
      (replaced(full, Nil, 3, I64(13)), "12 rows in row groups of a file of 13"),
      (replaced(full, RowGroups, 3, I64(5)), "10 rows in row groups of a file of 12"),
      (ofAnotherFile, "a column is said to be in the file other"),
      (without(full, Chunks, 3), "the metadata of a column are not there"),
      (replaced(full, Columns, 4, I32(8)), "codec 8 is unknown"),
      (replaced(full, Columns, 4, I32(-1)), "codec -1 is unknown"),
      (replaced(full, Columns, 2, Items(8, Seq(I32(0), I32(1)))), "encoding 1 is unknown"),
      (replaced(full, Columns, 2, Items(8, Seq(I32(10)))), "encoding 10 is unknown")
    )
    forRows(cases) { case (footer, message) =>
      assert(intercept[MalformedPage](footerOf(footer)).getMessage.endsWith(message))
    }
  }

  test("columns that are encrypted below a footer that is not") {
    val encrypted = read(ThriftValue.write(full))
      .setEncryption_algorithm(EncryptionAlgorithm.AES_GCM_V1(new AesGcmV1()))
    val bytes = bytesOf(encrypted)
    assert(Footer.read(bytes, 0, bytes.length) == footerOf(full).copy(isEncrypted = true))
  }

  /** A file of nothing else. */
  private def fileOf(footer: Array[Byte], length: Int, magic: String): FileBytes = {
    val end = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(length).array
    val bytes = "PAR1".getBytes(US_ASCII) ++ footer ++ end ++ magic.getBytes(US_ASCII)
    new FileBytes.Held(Array(bytes), bytes.length.toLong)
  }

  test("the end of a file tells where its footer is, beyond the first request too") {
    val sizes = Seq(0, 1 << 10, (1 << 16) - 1000, 1 << 16, 1 << 18)
    forRows(sizes) { size =>
      val large = read(ThriftValue.write(full))
      large.getKey_value_metadata.get(0).setValue("v" * size)
      val bytes = bytesOf(large)
      val Right(found) = FooterBytes.of(fileOf(bytes, bytes.length, "PAR1")): @unchecked
      assert(found.length == bytes.length)
      assert(found.read() == Footer.read(bytes, 0, bytes.length))
      val theirs = found.parse(ParquetMetadataConverter.NO_FILTER)
      assert(theirs.getFileMetaData.getKeyValueMetaData.get("k").length == size)
      assert(rowGroupsOf(theirs) == found.read().rowGroups)
    }
  }

  test("an end of a file that is not one of Parquet's") {
    val footer = ThriftValue.write(full)
    val cases = Seq(
      (fileOf(footer, footer.length, "PAR2"), "the file ends in 'PAR2', not in 'PAR1'"),
      (fileOf(footer, -1, "PAR1"), s"a footer of -1 bytes in a file of ${footer.length + 12}"),
      (
        fileOf(footer, footer.length + 1, "PAR1"),
        s"a footer of ${footer.length + 1} bytes in a file of ${footer.length + 12}"
      ),
      (
        fileOf(footer, Int.MaxValue, "PAR1"),
        s"a footer of ${Int.MaxValue} bytes in a file of ${footer.length + 12}"
      ),
      (new FileBytes.Held(Array(Array.fill[Byte](11)(1)), 11), "the file is too short")
    )
    forRows(cases) { case (file, message) =>
      assert(intercept[MalformedPage](FooterBytes.of(file)).getMessage.endsWith(message))
    }
    assert(FooterBytes.of(fileOf(footer, footer.length, "PARE")) == Left(FileOpener.Encrypted))
    val Right(short) = FooterBytes.of(fileOf(footer, footer.length - 1, "PAR1")): @unchecked
    intercept[MalformedPage](short.read())
  }
}

object FooterSuite {

  private val RowGroups = Seq(4)
  private val Chunks = Seq(4, 1)
  private val Columns = Seq(4, 1, 3)

  /** Structs that later versions of the format may extend; equal schemas are told by their bytes. */
  private val Extended = Seq(Nil, Seq(5), RowGroups, Chunks, Columns, Columns :+ 12)

  private def bytesOf(footer: FileMetaData): Array[Byte] = {
    val out = new ByteArrayOutputStream
    Util.writeFileMetaData(footer, out)
    out.toByteArray
  }

  private def read(bytes: Array[Byte]): FileMetaData = Util.readFileMetaData(new ByteArrayInputStream(bytes))

  private def footerOf(tree: Struct): Footer = {
    val bytes = ThriftValue.write(tree)
    Footer.read(bytes, 0, bytes.length)
  }

  private def changed(footer: Footer)(by: ChunkMeta => ChunkMeta): Footer =
    footer.copy(rowGroups = footer.rowGroups.map(group => group.copy(chunks = group.chunks.map(by))))

  private def rowGroupsOf(metadata: ParquetMetadata): Seq[RowGroupMeta] =
    metadata.getBlocks.asScala.toVector.map { block =>
      RowGroupMeta(
        block.getRowCount,
        block.getTotalByteSize,
        block.getColumns.asScala.toVector.map(chunkOf)
      )
    }

  private def chunkOf(theirs: ColumnChunkMetaData): ChunkMeta = ChunkMeta(
    theirs.getPath.iterator.asScala.toSeq,
    theirs.getCodec,
    theirs.getEncodings.asScala.toSet,
    theirs.getValueCount,
    theirs.getStartingPos,
    theirs.getTotalSize,
    theirs.getTotalUncompressedSize,
    theirs.getOffsetIndexReference != null,
    theirs.getBloomFilterOffset,
    if (theirs.getStatistics.isNumNullsSet) theirs.getStatistics.getNumNulls else -1L
  )

  private def columnOf(name: String): SchemaElement =
    new SchemaElement(name).setType(Type.BYTE_ARRAY).setRepetition_type(FieldRepetitionType.OPTIONAL)

  private def schemaOf(columns: Seq[SchemaElement]): Seq[SchemaElement] =
    new SchemaElement("m").setNum_children(columns.size) +: columns

  /** The metadata of a chunk with all that they may say. */
  private def chunkOf(rows: Long, column: SchemaElement): ColumnChunk = {
    val meta = new ColumnMetaData(
      column.getType,
      Seq(Encoding.PLAIN, Encoding.RLE_DICTIONARY).asJava,
      Seq(column.getName).asJava,
      CompressionCodec.ZSTD,
      rows,
      80,
      70,
      1000
    )
    new ColumnChunk(4).setOffset_index_offset(2000).setOffset_index_length(10).setMeta_data(
      meta.setDictionary_page_offset(900).setBloom_filter_offset(3000)
        .setStatistics(new Statistics().setNull_count(2))
    )
  }

  private val names = Gen.oneOf("a", "b", "ü", "a.b", "", "a long name" * 20)
  private val offsets = Gen.frequency(1 -> Gen.const(0L), 4 -> Gen.choose(1L, 1L << 40))
  private def maybe[T](value: Gen[T]): Gen[Option[T]] = Gen.option(value)

  private val columns: Gen[SchemaElement] = for {
    name <- names
    kind <- Gen.oneOf(Type.INT32, Type.INT64, Type.DOUBLE, Type.BYTE_ARRAY, Type.BOOLEAN)
    repetition <- Gen.oneOf(FieldRepetitionType.values.toSeq)
  } yield new SchemaElement(name).setType(kind).setRepetition_type(repetition)

  private def chunks(column: SchemaElement): Gen[ColumnChunk] = for {
    encodings <- Gen.someOf(Encoding.values.toSeq)
    codec <- Gen.oneOf(CompressionCodec.values.toSeq)
    values <- Gen.choose(0L, 1L << 40)
    sizes <- Gen.listOfN(3, offsets)
    dictionary <- maybe(offsets)
    index <- maybe(offsets)
    bloomFilter <- maybe(offsets)
    nulls <- maybe(offsets)
    statistics <- Arbitrary.arbitrary[Boolean]
  } yield {
    val path = Seq(column.getName).asJava
    val meta = new ColumnMetaData(
      column.getType,
      encodings.toSeq.asJava,
      path,
      codec,
      values,
      sizes(0),
      sizes(1),
      sizes(2)
    )
    dictionary.foreach(meta.setDictionary_page_offset(_))
    bloomFilter.foreach(meta.setBloom_filter_offset(_))
    if (statistics) {
      val told = new Statistics()
      nulls.foreach(told.setNull_count(_))
      meta.setStatistics(told)
    }
    val chunk = new ColumnChunk(sizes(2)).setMeta_data(meta)
    index.foreach(chunk.setOffset_index_offset(_).setOffset_index_length(10))
    chunk
  }

  private def rowGroups(columns: Seq[SchemaElement]): Gen[RowGroup] = for {
    chunks <- columns.foldLeft(Gen.const(Vector.empty[ColumnChunk])) { (drawn, column) =>
      Gen.zip(drawn, chunks(column)).map { case (before, chunk) => before :+ chunk }
    }
    bytes <- offsets
    rows <- Gen.choose(0L, 1L << 40)
  } yield new RowGroup(chunks.asJava, bytes, rows)

  private val footers: Gen[FileMetaData] = for {
    columns <- Gen.choose(1, 4).flatMap(Gen.listOfN(_, columns)).map(_.distinctBy(_.getName))
    groups <- Gen.choose(0, 3).flatMap(Gen.listOfN(_, rowGroups(columns)))
    keyValues <- Gen.mapOfN(3, Gen.zip(names, names))
    createdBy <- maybe(Gen.oneOf("parquet-mr version 1.17.0 (build abc)", "someone", ""))
    ordered <- Arbitrary.arbitrary[Boolean]
  } yield {
    val footer = new FileMetaData(2, schemaOf(columns).asJava, groups.map(_.getNum_rows).sum, groups.asJava)
    createdBy.foreach(footer.setCreated_by(_))
    if (keyValues.nonEmpty) footer.setKey_value_metadata(
      keyValues.toSeq.map { case (k, v) => new KeyValue(k).setValue(v) }.asJava
    )
    if (ordered)
      footer.setColumn_orders(columns.map(_ => ColumnOrder.TYPE_ORDER(new TypeDefinedOrder())).asJava)
    footer
  }
}
