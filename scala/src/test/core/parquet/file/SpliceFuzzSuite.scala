package io.deltaupkeep.parquet.file

import java.io.IOException
import java.nio.file.{Files, Path}
import java.util.concurrent.{Callable, ExecutionException, Executors, TimeUnit, TimeoutException}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.{Failure, Random, Success, Try}

import io.deltaupkeep.{DaemonThreads, FuzzSeeds, UnreadableInput}
import io.deltaupkeep.parquet.{LocalFiles, SmallSpliceSettings}
import io.deltaupkeep.parquet.bytes.{FileBytes, LittleEndian}
import io.deltaupkeep.parquet.chunk.DamagedPage
import io.deltaupkeep.parquet.footer.InputRows
import io.deltaupkeep.parquet.plan.{ChunkTier, SpliceSettings}

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.ParquetReader
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.hadoop.example.{ExampleParquetWriter, GroupReadSupport}
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.{InputFile, SeekableInputStream}
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/**
 * A damaged file is refused, or an error that names it, or merged to the rows that parquet-java reads of it.
 * Damage may lie where only parquet-java looks: then no row is gone. Where chunks are copied as bytes, a reader
 * finds in the output what it finds in the input.
 */
class SpliceFuzzSuite extends AnyFunSuite with BeforeAndAfterAll {
  import SpliceFuzzSuite._

  private val mutations = FuzzSeeds(300)

  private val small = SmallSpliceSettings()
  private val ofPlainValues = small.copy(
    codec = CompressionCodecName.UNCOMPRESSED,
    layout = small.layout.copy(dictionaryBytes = 0)
  )

  private val cases = Seq(
    Case("snappy, dictionaries", CompressionCodecName.SNAPPY, small),
    Case("uncompressed, dictionaries", CompressionCodecName.UNCOMPRESSED, small),
    Case("uncompressed, plain", CompressionCodecName.UNCOMPRESSED, ofPlainValues, dictionary = false),
    Case("zstd, plain", CompressionCodecName.ZSTD, small.copy(heldFileBytes = 0), dictionary = false),
    Case(
      "uncompressed, delta encodings",
      CompressionCodecName.UNCOMPRESSED,
      small,
      v2 = true,
      dictionary = false
    ),
    Case("gzip, pages of version 2", CompressionCodecName.GZIP, small.copy(threads = 1), v2 = true),
    Case("copied chunks", CompressionCodecName.UNCOMPRESSED, small.copy(copyFromBytes = 1)),
    Case("checksums", CompressionCodecName.UNCOMPRESSED, ofPlainValues, dictionary = false, checksums = true)
  )

  private lazy val directory = Files.createTempDirectory("fuzz")
  private val runner = Executors.newCachedThreadPool(DaemonThreads("fuzz"))

  override def afterAll(): Unit = {
    runner.shutdownNow()
    Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  for (one <- cases) test(s"damaged files: ${one.name}") {
    val whole = write(one, 0 until 260)
    val intact = write(one, 1000 until 1100)
    val rows = rowsOf(input("whole", whole))
    val rowsOfIntact = rowsOf(input("intact", intact))
    val counts = mutable.Map.empty[String, Int].withDefaultValue(0)
    mutations.foreach { seed =>
      val random = new Random(seed)
      val damaged = damage(random, whole)
      val inputs = random.shuffle(Seq(input(Damaged, damaged), input("intact", intact)))
      def expected(from: Seq[String]) = (from ++ rowsOfIntact).sorted
      val clue = s"${one.name}, ${FuzzSeeds.clue(seed)}"
      val kind = within(clue)(splice(inputs, one.settings)) match {
        case Failure(e) =>
          assert(isClear(e), s"$clue: ${stackOf(e)}")
          "an error"
        case Success(SpliceOutcome.Refused(_)) => "refused"
        case Success(done: SpliceOutcome.Done) if done.refused.nonEmpty =>
          assert(within(clue)(rowsOf(LocalFiles.input(output)).sorted).toOption.contains(expected(Nil)), clue)
          "refused, and the other spliced"
        case Success(done: SpliceOutcome.Done) =>
          val read = within(clue)(rowsOf(LocalFiles.input(output)).sorted)
          if (read.toOption.contains(expected(rows))) "the rows that it had"
          else {
            val ofReader = within(clue)(expected(rowsOf(input(Damaged, damaged))))
            if (done.tallies.contains(ChunkTier.Copy) && read.isFailure) {
              assert(ofReader.isFailure, s"$clue: $read")
              "damage was copied"
            } else if (ofReader.isFailure) {
              assert(
                read.map(_.size).toOption.contains(rows.size + rowsOfIntact.size),
                s"$clue: ${textOf(read)}, ${textOf(ofReader)}"
              )
              "as many rows as it had, of a file that parquet-java does not read"
            } else {
              assert(read == ofReader, s"$clue: ${textOf(read)}, ${textOf(ofReader)}")
              "the rows that parquet-java reads"
            }
          }
      }
      counts(kind) += 1
    }
    info(counts.toSeq.sorted.map { case (kind, count) => s"$kind: $count" }.mkString(", "))
    assert(mutations.size < 100 || Seq("refused", "the rows that it had").forall(counts(_) > 0))
  }

  private def within[T](clue: String)(body: => T): Try[T] = {
    val task: Callable[T] = () => body
    val running = runner.submit(task)
    try Success(running.get(60, TimeUnit.SECONDS))
    catch {
      case e: ExecutionException => Failure(e.getCause)
      case e: TimeoutException => fail(s"$clue: it hangs", e)
    }
  }

  /** Other errors than these come from a mistake of ours, such as an index beyond the end of an array. */
  private def isClear(failure: Throwable): Boolean = failure match {
    case unreadable: UnreadableInput =>
      unreadable.getMessage.contains(Damaged) && (unreadable.getCause match {
        case _: DamagedPage | _: IOException => true
        case e: Exception => !e.getStackTrace.map(_.getClassName).find(!isOfLanguage(_)).exists(isOurs)
        case _ => false
      })
    case _ => false
  }

  private def isOfLanguage(name: String): Boolean = Seq("java.", "jdk.", "scala.").exists(name.startsWith)

  private def isOurs(name: String): Boolean = name.startsWith("io.deltaupkeep.")

  private def textOf(of: Try[_]): String = of match {
    case Failure(e) => stackOf(e)
    case Success(rows) => rows.toString.take(500)
  }

  private def stackOf(e: Throwable): String =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).flatMap(cause =>
      cause.toString +: cause.getStackTrace.take(6).map(_.toString)
    ).mkString("\n  ")

  private def output: Path = directory.resolve("out")

  private def splice(inputs: Seq[InputFile], settings: SpliceSettings): SpliceOutcome = {
    Files.deleteIfExists(output)
    new FileSplicer(
      SpliceRequest(inputs.map(InputRows(_)), schema, Map.empty, _ => None),
      settings,
      new Configuration(false)
    )
      .run(LocalFiles.output(output))
  }

  private def write(as: Case, rows: Range): Array[Byte] = {
    val file = directory.resolve("in")
    Files.deleteIfExists(file)
    val writer = ExampleParquetWriter
      .builder(LocalFiles.output(file))
      .withType(schema)
      .withRowGroupRowCountLimit(150)
      .withPageRowCountLimit(40)
      // Checksums find damage out before anything else does.
      .withPageWriteChecksumEnabled(as.checksums)
      .withDictionaryEncoding(as.dictionary)
      .withBloomFilterNDV("text", 30L)
      .withWriterVersion(if (as.v2) WriterVersion.PARQUET_2_0 else WriterVersion.PARQUET_1_0)
      .withCompressionCodec(as.codec)
      .build()
    try rows.foreach(i => writer.write(row(i)))
    finally writer.close()
    Files.readAllBytes(file)
  }
}

private object SpliceFuzzSuite {

  private final case class Case(
      name: String,
      codec: CompressionCodecName,
      settings: SpliceSettings,
      v2: Boolean = false,
      dictionary: Boolean = true,
      checksums: Boolean = false
  )

  private val Damaged = "damaged.parquet"

  private val schema: MessageType = MessageTypeParser.parseMessageType(
    """message m {
      |  optional int64 n;
      |  required int32 r;
      |  optional boolean flag;
      |  optional double ratio;
      |  optional binary text (STRING);
      |  optional fixed_len_byte_array(5) amount (DECIMAL(9, 2));
      |  optional int96 time;
      |  optional group s { optional int32 x; optional binary y (STRING); }
      |  optional group l (LIST) { repeated group list { optional int32 element; } }
      |  optional group m (MAP) { repeated group key_value { required binary key (STRING); optional int64 value; } }
      |}""".stripMargin
  )

  private def row(i: Int): Group = {
    val row = new SimpleGroupFactory(schema).newGroup()
    def bytes(count: Int) = Binary.fromConstantByteArray(Array.tabulate(count)(j => (i % 20 + j).toByte))
    if (i % 3 != 0) row.append("n", i.toLong * i)
    row.append("r", i % 50)
    if (i % 4 != 0) row.append("flag", i % 7 < 3)
    if (i % 5 != 0) row.append("ratio", i / 8.0)
    if (i % 6 != 0) row.append("text", s"text ${i % 30}")
    if (i % 7 != 0) row.append("amount", bytes(5))
    if (i % 8 != 0) row.append("time", bytes(12))
    if (i % 9 != 0) {
      val struct = row.addGroup("s")
      if (i % 2 != 0) struct.append("x", i)
      if (i % 4 != 1) struct.append("y", s"y${i % 3}")
    }
    if (i % 5 != 1) {
      val list = row.addGroup("l")
      (0 until i % 4).foreach { j =>
        val entry = list.addGroup("list")
        if (j != 1) entry.append("element", i + j)
      }
    }
    if (i % 5 != 2) {
      val map = row.addGroup("m")
      (0 until i % 3).foreach { j =>
        val entry = map.addGroup("key_value").append("key", s"key $j")
        if (i % 2 == 0) entry.append("value", i.toLong)
      }
    }
    row
  }

  /** A file in memory, for the fetcher to read. */
  private def input(name: String, bytes: Array[Byte]): InputFile = {
    val held = FileBytes.asInputFile(new FileBytes.Held(Array(bytes), bytes.length.toLong), step = 1 << 14)
    new InputFile {
      override def getLength: Long = bytes.length.toLong
      override def newStream(): SeekableInputStream = held.newStream()
      override def toString: String = name
    }
  }

  /** By parquet-java, as the table's columns. */
  private def rowsOf(file: InputFile): Seq[String] = {
    val conf = new Configuration(false)
    conf.set(ReadSupport.PARQUET_READ_SCHEMA, schema.toString)
    val reader = new ParquetReader.Builder[Group](file) {
      override def getReadSupport: ReadSupport[Group] = new GroupReadSupport
    }.withConf(conf).build()
    try Iterator.continually(reader.read()).takeWhile(_ != null).map(_.toString).toList
    finally reader.close()
  }

  /** One to three changes, half of them in the footer, which all the rest hangs on. */
  private def damage(random: Random, whole: Array[Byte]): Array[Byte] =
    (0 to random.nextInt(3)).foldLeft(whole) { (bytes, _) =>
      if (bytes.length < MostBytesOfChange) bytes else change(random, bytes)
    }

  private def change(random: Random, bytes: Array[Byte]): Array[Byte] = {
    val end = bytes.length
    val footer = math.max(0, end - 8 - math.max(0, LittleEndian.getInt(bytes, end - 8)))
    val at = if (random.nextBoolean()) random.nextInt(end) else footer + random.nextInt(end - footer)
    val count = 1 + random.nextInt(math.min(MostBytesOfChange, end - at))
    def over(by: Array[Byte]) = bytes.patch(at, by, math.min(by.length, end - at))
    random.nextInt(10) match {
      case 0 | 1 | 2 => over(Array((bytes(at) ^ 1 << random.nextInt(8)).toByte))
      case 3 => over(random.nextBytes(count))
      case 4 => over(Array.fill(count)(random.nextInt().toByte))
      case 5 | 6 => over(Telling(random.nextInt(Telling.size)).map(_.toByte))
      case 7 => bytes.patch(at, Array.emptyByteArray, count)
      case 8 => bytes.patch(at, bytes.slice(random.nextInt(end), end).take(count), random.nextInt(2) * count)
      case _ =>
        if (random.nextInt(4) == 0) bytes.take(at) else over(bytes.drop(random.nextInt(end)).take(count))
    }
  }

  private val MostBytesOfChange = 64

  /** Numbers at the ends of their ranges, as varints and as they are; what lists and structs begin with. */
  private val Telling: IndexedSeq[Array[Int]] = IndexedSeq(
    Array(0x00),
    Array(0x7f),
    Array(0x80),
    Array(0xff),
    Array(0xfe, 0xff, 0xff, 0xff, 0x0f),
    Array(0xff, 0xff, 0xff, 0xff, 0x0f),
    Array(0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
    Array(0x80, 0x80, 0x80, 0x80, 0x08),
    Array(0xff, 0xff, 0xff, 0x7f),
    Array(0x00, 0x00, 0x00, 0x80),
    Array(0xfc, 0xff, 0xff, 0xff, 0x0f),
    Array.fill(40)(0x19),
    Array.fill(40)(0x1c)
  )
}
