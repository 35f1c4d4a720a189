package io.deltaupkeep.parquet

import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.tailrec

/**
 * Reads what Thrift's compact protocol wrote, in place (Thrift, 'Thrift Compact protocol encoding'). Of footers and
 * page headers we need a few fields: to make objects of all of them takes longer than to splice small files.
 *
 * @param from where the first struct starts
 */
private[parquet] final class CompactReader(bytes: Array[Byte], from: Int, end: Int) {
  import CompactReader._

  private var at = from
  private var kind = Stop

  /** Where the next byte is read. */
  def position: Int = at

  /** Hands each field's id to `field`, which must read the value or [[skip]] it. */
  def readStruct(field: Int => Unit): Unit = {
    @tailrec
    def next(last: Int): Unit = {
      val header = readByte()
      if ((header & 0xf) != Stop) {
        val id = if (header >>> 4 == 0) readInt() else last + (header >>> 4)
        kind = header & 0xf
        field(id)
        next(id)
      }
    }
    next(0)
  }

  /** Calls `element` for each one, which must read it or [[skip]] it. */
  def readList(element: () => Unit): Unit = {
    val header = readByte()
    val size = if (header >>> 4 == 15) readSize() else header >>> 4
    var i = 0
    while (i < size) {
      // An element in a list is a byte even if it is a boolean; what was read before may have set the kind.
      kind = if ((header & 0xf) <= False) Byte else header & 0xf
      element()
      i += 1
    }
  }

  /** A boolean field; its value stands for its kind. */
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
    case other => throw new MalformedPage(s"its metadata hold a field of kind $other")
  }

  private def skipMap(): Unit = {
    val size = readSize()
    if (size > 0) {
      val kinds = readByte()
      (0 until size).foreach { _ =>
        kind = kinds >>> 4
        skip()
        kind = kinds & 0xf
        skip()
      }
    }
  }

  private def readSize(): Int = {
    val size = readVarInt()
    if (size < 0 || size > end - at) throw new MalformedPage("its metadata are cut off")
    size.toInt
  }

  private def readVarInt(): Long = {
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

  private def advance(count: Int): Unit = {
    if (count > end - at) throw new MalformedPage("its metadata are cut off")
    at += count
  }
}

private object CompactReader {
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
}
