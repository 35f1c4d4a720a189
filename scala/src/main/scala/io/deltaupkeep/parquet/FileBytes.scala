package io.deltaupkeep.parquet

import java.io.{ByteArrayInputStream, EOFException}

import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}

/** A range of an array. */
private[parquet] final case class Slice(array: Array[Byte], from: Int)

/** The bytes of an input file: held whole, or read range by range. */
private[parquet] sealed trait FileBytes extends AutoCloseable {

  def length: Long

  /** The bytes from `start` on, `count` of them. Threads may call it side by side. */
  def read(start: Long, count: Int): Slice

  /** Bytes that are held until the file is closed. */
  def heldBytes: Long
}

private[parquet] object FileBytes {

  /** A file in memory. */
  final class Held(bytes: Array[Byte]) extends FileBytes {
    override def length: Long = bytes.length.toLong
    override def heldBytes: Long = length
    override def read(start: Long, count: Int): Slice = {
      if (start < 0 || start + count > length)
        throw new EOFException(s"bytes $start to ${start + count} of $length")
      Slice(bytes, start.toInt)
    }
    override def close(): Unit = ()
  }

  /** A file that is too large to hold; one request for each range. */
  final class Ranged(file: InputFile) extends FileBytes {
    private lazy val stream = file.newStream()
    private var opened = false

    override val length: Long = file.getLength
    override def heldBytes: Long = 0

    override def read(start: Long, count: Int): Slice = synchronized {
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

  /** Reads a file in one request. */
  def fetch(file: InputFile): FileBytes = {
    val bytes = new Array[Byte](Math.toIntExact(file.getLength))
    val stream = file.newStream()
    try stream.readFully(bytes)
    finally stream.close()
    new Held(bytes)
  }

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
