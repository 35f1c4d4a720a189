package io.deltaupkeep.parquet.bytes

import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.tailrec

/**
 * Reads Thrift's compact protocol in place (Thrift, 'Thrift Compact protocol encoding'). Splicing needs only
 * a few fields of footers and page headers. Making objects of all fields takes longer than splicing small
 * files.
 *
 * @param from where the first struct starts
 */
private[parquet] final class CompactReader(bytes: Array[Byte], from: Int, end: Int) {
  import CompactReader._

  private var at = from
  private var kind = Stop
  private var depth = 0

  /** Where the next byte is read. */
  def position: Int = at

  /** Calls `field` with the id of each field. It must read the value or [[skip]] it. */
  def readStruct(field: Int => Unit): Unit = readFields(required = 0L)(field)

  /**
   * The same.
   *
   * @param required a bit for each field that must be present, from [[CompactReader.fields]]
   */
  def readFields(required: Long)(field: Int => Unit): Unit = {
    var missing = required
    @tailrec
    def next(last: Int): Unit = {
      val header = readByte()
      if ((header & 0xf) != Stop) {
        val id = if (header >>> 4 == 0) readInt() else last + (header >>> 4)
        // A shift takes its distance modulo 64.
        if (id >= 0 && id < 64) missing &= ~(1L << id)
        kind = header & 0xf
        field(id)
        next(id)
      }
    }
    enter()
    next(0)
    if (missing != 0) throw new MalformedPage("its metadata lack a field")
    depth -= 1
  }

  /** Calls `element` for each element. It must read the element or [[skip]] it. */
  def readList(element: () => Unit): Unit = {
    val header = readByte()
    val size = if (header >>> 4 == 15) readSize() else header >>> 4
    enter()
    var i = 0
    while (i < size) {
      // The previous value may have changed the kind.
      kind = kindInside(header)
      element()
      i += 1
    }
    depth -= 1
  }

  /** In a list or a map a boolean is a byte. */
  private def kindInside(header: Int): Int = if ((header & 0xf) <= False) Byte else header & 0xf

  /** Damaged metadata may be nested deeper than the stack allows. */
  private def enter(): Unit = {
    depth += 1
    if (depth > MostDepth) throw new MalformedPage("its metadata are nested too deeply")
  }

  /** The value of a boolean field is encoded in its kind. */
  def readBoolean(): Boolean = kind == True

  def readInt(): Int = readLong().toInt

  def readLong(): Long = {
    val zigzag = readVarInt()
    (zigzag >>> 1) ^ -(zigzag & 1)
  }

  def readString(): String = {
    val length = readSize()
    val text = new String(bytes, at, length, UTF_8)
    at += length
    text
  }

  def skip(): Unit = kind match {
    case True | False => ()
    case Byte => advance(1)
    case Short | Int | Long => readVarInt(); ()
    case Double => advance(8)
    case Binary => advance(readSize())
    case List | Set => readList(() => skip())
    case Map => skipMap()
    case Struct => readStruct(_ => skip())
    case Uuid => advance(16)
    case other => throw new MalformedPage(s"its metadata hold a field of kind $other")
  }

  private def skipMap(): Unit = {
    val size = readSize()
    if (size > 0) {
      val kinds = readByte()
      enter()
      (0 until size).foreach { _ =>
        kind = kindInside(kinds >>> 4)
        skip()
        kind = kindInside(kinds)
        skip()
      }
      depth -= 1
    }
  }

  private def readSize(): Int = {
    val size = readVarInt()
    if (size < 0 || size > end - at) throw new MalformedPage("its metadata are cut off")
    size.toInt
  }

  /** Reads an unsigned number. */
  def readVarInt(): Long = {
    var value = 0L
    var shift = 0
    var byte = readByte()
    while ((byte & 0x80) != 0) {
      value |= (byte & 0x7fL) << shift
      shift += 7
      if (shift > 63) throw new MalformedPage("its metadata hold a number of more than 64 bits")
      byte = readByte()
    }
    value | byte.toLong << shift
  }

  private def readByte(): Int = {
    if (at >= end) throw new MalformedPage("its metadata are cut off")
    at += 1
    bytes(at - 1) & 0xff
  }

  def advance(count: Int): Unit = {
    if (count > end - at) throw new MalformedPage("its metadata are cut off")
    at += count
  }
}

private[parquet] object CompactReader {

  /** Field ids, all below 64, as bits. */
  def fields(ids: Int*): Long = ids.map(1L << _).sum

  /** Thrift's own readers stop there too. */
  private final val MostDepth = 64

  private final val Stop = 0
  private final val True = 1
  private final val False = 2
  private final val Byte = 3
  private final val Short = 4
  private final val Int = 5
  private final val Long = 6
  private final val Double = 7
  private final val Binary = 8
  private final val List = 9
  private final val Set = 10
  private final val Map = 11
  private final val Struct = 12
  private final val Uuid = 13
}
