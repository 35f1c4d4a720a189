package io.deltaupkeep.parquet.gather

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, BitSet}

import io.deltaupkeep.parquet.bytes.TooLarge
import io.deltaupkeep.parquet.file.Refusal

import org.apache.parquet.io.{
  DelegatingPositionOutputStream,
  DelegatingSeekableInputStream,
  InputFile,
  OutputFile,
  PositionOutputStream,
  SeekableInputStream
}

/**
 * The rows that one part of a bin has in a range: a Parquet file in memory, and where some of its rows come from.
 *
 * @param part     of the bin
 * @param rows     their number
 * @param followed whose positions are those in this file
 */
final class Piece private (
    val part: Int,
    val rows: Long,
    val followed: FollowedRows,
    bytes: Array[Byte],
    length: Int
) {

  /** @param name for errors */
  def file(name: String): InputFile = new InputFile {
    override def getLength: Long = length.toLong
    override def newStream(): SeekableInputStream = {
      val stream = new SeekingBytes(bytes, length)
      new DelegatingSeekableInputStream(stream) {
        override def getPos: Long = stream.position
        override def seek(to: Long): Unit = stream.seek(to)
      }
    }
    override def toString: String = name
  }
}

object Piece {

  /** As [[PieceOutput]] stored it: the file, the sample, the marks, their numbers; or why the part was refused. */
  def read(bytes: Array[Byte]): Either[Refusal, Piece] = {
    val end = ByteBuffer.wrap(bytes, bytes.length - EndBytes, EndBytes)
    val (part, rows) = (end.getInt(), end.getLong())
    if (rows < 0) {
      val reason = new String(bytes, 0, bytes.length - EndBytes, UTF_8)
      Left(Refusal(reason, isMalformed = part == Malformed, times = -rows.toDouble))
    } else {
      val (sampled, marked, fingerprint) = (end.getInt(), end.getInt(), end.getLong())
      val length = bytes.length - EndBytes - marked - RowBytes * sampled
      val buffer = ByteBuffer.wrap(bytes, length, RowBytes * sampled + marked)
      val sample = Seq.fill(sampled)(SampledRow(buffer.getInt(), buffer.getLong(), buffer.getLong()))
      val followed = FollowedRows(sample, BitSet.valueOf(buffer), fingerprint)
      Right(new Piece(part, rows, followed, bytes, length))
    }
  }

  /** In place of a piece. */
  def refused(refusal: Refusal): Array[Byte] =
    refusal.reason.getBytes(UTF_8) ++
      tail(
        if (refusal.isMalformed) Malformed else 0,
        -math.ceil(refusal.times).toLong,
        FollowedRows(Nil, new BitSet, fingerprint = 0)
      )

  private[gather] def tail(part: Int, rows: Long, followed: FollowedRows): Array[Byte] = {
    val marked = followed.marked.toByteArray
    val buffer = ByteBuffer.allocate(RowBytes * followed.sample.size + marked.length + EndBytes)
    followed.sample.foreach(row => buffer.putInt(row.input).putLong(row.row).putLong(row.at))
    buffer.put(marked).putInt(part).putLong(rows).putInt(followed.sample.size).putInt(marked.length)
      .putLong(followed.fingerprint).array
  }

  /** In place of a part. */
  private val Malformed = 1

  private val RowBytes = 20
  private val EndBytes = 28
}

/** Where the file of a piece is written to. */
final class PieceOutput extends OutputFile {
  private var file = Array.emptyByteArray

  override def create(blockSizeHint: Long): PositionOutputStream = {
    val bytes = new ByteArrayOutputStream
    new DelegatingPositionOutputStream(bytes) {
      override def getPos: Long = bytes.size.toLong
      override def write(from: Array[Byte], start: Int, count: Int): Unit = {
        if (bytes.size.toLong + count > PieceOutput.MostBytes)
          throw new TooLarge("the rows of a range", PieceOutput.MostBytes)
        super.write(from, start, count)
      }
      override def close(): Unit = file = bytes.toByteArray
    }
  }

  override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream = create(blockSizeHint)

  override def supportsBlockSize: Boolean = false

  override def defaultBlockSize: Long = 0

  /** Takes the piece, to be sent to whoever writes the range; see [[Piece.read]]. */
  def taken(part: Int, rows: Long, followed: FollowedRows): Array[Byte] = {
    val tail = Piece.tail(part, rows, followed)
    if (file.length.toLong + tail.length > PieceOutput.MostBytes)
      throw new TooLarge("the rows of a range", PieceOutput.MostBytes)
    val all = Arrays.copyOf(file, file.length + tail.length)
    System.arraycopy(tail, 0, all, file.length, tail.length)
    file = Array.emptyByteArray
    all
  }
}

private object PieceOutput {

  /** Below the limit of an array, with what follows the file. */
  val MostBytes = Int.MaxValue - (1L << 20)
}

private final class SeekingBytes(bytes: Array[Byte], length: Int)
    extends ByteArrayInputStream(bytes, 0, length) {
  def position: Long = pos.toLong
  def seek(to: Long): Unit = pos = math.min(to, length.toLong).toInt
}
