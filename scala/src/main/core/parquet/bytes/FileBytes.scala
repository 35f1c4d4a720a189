package io.deltaupkeep.parquet.bytes

import java.io.{ByteArrayInputStream, EOFException}

import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}

/** A range of an array. */
private[parquet] final case class Slice(array: Array[Byte], from: Int)

/** The bytes of an input file: held whole, or read range by range. */
private[parquet] sealed trait FileBytes extends AutoCloseable {

  def length: Long

  /**
   * Returns `count` bytes from `start` on. Thread-safe.
   *
   * @throws EOFException if the file is too short
   */
  final def read(start: Long, count: Int): Slice = {
    if (start < 0 || count < 0 || start > length - count)
      throw new EOFException(s"$count bytes from $start on, in a file of $length")
    if (count == 0) Slice(Array.emptyByteArray, 0) else readInside(start, count)
  }

  protected def readInside(start: Long, count: Int): Slice

  /** Bytes that are held until the file is closed. */
  def heldBytes: Long
}

private[parquet] object FileBytes {

  /** A file in memory, in segments: arrays of megabytes burden garbage collectors such as G1. */
  final class Held(segments: Array[Array[Byte]], override val length: Long) extends FileBytes {
    override def heldBytes: Long = length

    override protected def readInside(start: Long, count: Int): Slice = {
      val first = (start / SegmentBytes).toInt
      val from = (start % SegmentBytes).toInt
      if (from + count <= segments(first).length) Slice(segments(first), from)
      else Slice(joined(first, from, count), 0)
    }

    private def joined(first: Int, from: Int, count: Int): Array[Byte] = {
      val bytes = new Array[Byte](count)
      var (segment, at, done) = (first, from, 0)
      while (done < count) {
        val part = math.min(count - done, segments(segment).length - at)
        System.arraycopy(segments(segment), at, bytes, done, part)
        segment += 1
        at = 0
        done += part
      }
      bytes
    }

    override def close(): Unit = ()
  }

  /** A file that is too large to hold; one request for each range. */
  final class Ranged(file: InputFile) extends FileBytes {
    private lazy val stream = file.newStream()
    private var opened = false

    override val length: Long = file.getLength
    override def heldBytes: Long = 0

    override protected def readInside(start: Long, count: Int): Slice = synchronized {
      opened = true
      val bytes = new Array[Byte](count)
      stream.seek(start)
      stream.readFully(bytes)
      Slice(bytes, 0)
    }

    override def close(): Unit = synchronized {
      if (opened) stream.close()
    }
  }

  /** A file that is read in blocks, with the last few kept: for reads that jump between a few places. */
  final class Blocks(file: InputFile, blockBytes: Int = 4 << 20, blocks: Int = 8) extends FileBytes {
    private val ranged = new Ranged(file)
    private val recent = new java.util.LinkedHashMap[Long, Array[Byte]](blocks, 0.75f, true) {
      override def removeEldestEntry(eldest: java.util.Map.Entry[Long, Array[Byte]]): Boolean = size > blocks
    }

    override val length: Long = file.getLength
    override def heldBytes: Long = math.min(length, blockBytes.toLong * blocks)

    override protected def readInside(start: Long, count: Int): Slice = synchronized {
      val from = (start % blockBytes).toInt
      if (from + count <= blockBytes) Slice(block(start / blockBytes), from)
      else {
        val bytes = new Array[Byte](count)
        var done = 0
        while (done < count) {
          val at = ((start + done) % blockBytes).toInt
          val part = math.min(count - done, blockBytes - at)
          System.arraycopy(block((start + done) / blockBytes), at, bytes, done, part)
          done += part
        }
        Slice(bytes, 0)
      }
    }

    private def block(index: Long): Array[Byte] = recent.computeIfAbsent(
      index,
      _ => {
        val start = index * blockBytes
        ranged.read(start, math.min(blockBytes.toLong, length - start).toInt).array
      }
    )

    override def close(): Unit = ranged.close()
  }

  /** Reads a file in one request. */
  def fetch(file: InputFile): FileBytes = {
    val length = file.getLength
    val stream = file.newStream()
    try {
      val segments = (0L until length by SegmentBytes.toLong).map { start =>
        val segment = new Array[Byte](math.min(SegmentBytes.toLong, length - start).toInt)
        stream.readFully(segment)
        segment
      }
      new Held(segments.toArray, length)
    } finally stream.close()
  }

  /** Below half of G1's smallest region. */
  private val SegmentBytes = 448 << 10

  /** For parquet-java's readers. Reads `step` bytes at a time. */
  def asInputFile(bytes: FileBytes, step: Int): InputFile = new InputFile {
    override def getLength: Long = bytes.length
    override def newStream(): SeekableInputStream = {
      val source = new SteppingStream(bytes, step)
      new DelegatingSeekableInputStream(source) {
        override def getPos: Long = source.position
        override def seek(position: Long): Unit = source.seek(position)
      }
    }
  }

  private final class SteppingStream(bytes: FileBytes, step: Int) extends java.io.InputStream {
    private var window = new ByteArrayInputStream(Array.emptyByteArray)
    private var windowEnd = 0L

    def position: Long = windowEnd - window.available()

    def seek(target: Long): Unit = {
      window = new ByteArrayInputStream(Array.emptyByteArray)
      windowEnd = target
    }

    override def read(): Int = {
      fill()
      window.read()
    }

    override def read(to: Array[Byte], from: Int, count: Int): Int = {
      fill()
      window.read(to, from, count)
    }

    private def fill(): Unit = if (window.available() == 0 && windowEnd < bytes.length) {
      val count = math.min(step.toLong, bytes.length - windowEnd).toInt
      val slice = bytes.read(windowEnd, count)
      window = new ByteArrayInputStream(slice.array, slice.from, count)
      windowEnd += count
    }
  }
}
