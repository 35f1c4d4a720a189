package io.deltaupkeep.parquet

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.scalacheck.{Arbitrary, Gen}
import shaded.parquet.org.apache.thrift.protocol._
import shaded.parquet.org.apache.thrift.transport.TIOStreamTransport

/** A value of Thrift's data model. parquet-java's own Thrift writes it, reads it and steps over it. */
sealed abstract class ThriftValue(val kind: Byte)

object ThriftValue {
  final case class Bool(value: Boolean) extends ThriftValue(2)
  final case class I8(value: Byte) extends ThriftValue(3)
  final case class Real(value: Double) extends ThriftValue(4)
  final case class I16(value: Short) extends ThriftValue(6)
  final case class I32(value: Int) extends ThriftValue(8)
  final case class I64(value: Long) extends ThriftValue(10)
  final case class Blob(value: ByteBuffer) extends ThriftValue(11) {
    def text: String = UTF_8.decode(value.duplicate()).toString
  }
  final case class Struct(fields: Seq[(Int, ThriftValue)]) extends ThriftValue(12)
  final case class Pairs(keys: Byte, values: Byte, entries: Seq[(ThriftValue, ThriftValue)])
      extends ThriftValue(13)
  final case class Distinct(elements: Byte, values: Seq[ThriftValue]) extends ThriftValue(14)
  final case class Items(elements: Byte, values: Seq[ThriftValue]) extends ThriftValue(15)
  final case class Id(value: UUID) extends ThriftValue(16)

  def write(struct: Struct): Array[Byte] = {
    val out = new ByteArrayOutputStream
    put(struct, new TCompactProtocol(new TIOStreamTransport(out)))
    out.toByteArray
  }

  def read(bytes: Array[Byte]): Struct =
    take(12, new TCompactProtocol(new TIOStreamTransport(new ByteArrayInputStream(bytes))))
      .asInstanceOf[Struct]

  /** How many bytes the struct takes that `bytes` begins with. */
  def lengthOf(bytes: Array[Byte]): Int = {
    val in = new ByteArrayInputStream(bytes)
    TProtocolUtil.skip(new TCompactProtocol(new TIOStreamTransport(in)), 12)
    bytes.length - in.available
  }

  /** The structs that lie at a path of field ids, lists included, are changed. */
  def change(root: Struct, path: Int*)(by: Struct => Struct): Struct =
    if (path.isEmpty) by(root)
    else Struct(root.fields.map {
      case (id, inner: Struct) if id == path.head => id -> change(inner, path.tail: _*)(by)
      case (id, Items(12, inner)) if id == path.head =>
        id -> Items(12, inner.map(one => change(one.asInstanceOf[Struct], path.tail: _*)(by)))
      case other => other
    })

  def without(root: Struct, path: Seq[Int], field: Int): Struct =
    change(root, path: _*)(struct => Struct(struct.fields.filterNot(_._1 == field)))

  /** The field is there, and there alone, with the value. */
  def replaced(root: Struct, path: Seq[Int], field: Int, value: ThriftValue): Struct =
    change(root, path: _*)(struct =>
      Struct(struct.fields.map { case (id, old) => id -> (if (id == field) value else old) })
    )

  private def put(value: ThriftValue, to: TProtocol): Unit = value match {
    case Bool(v) => to.writeBool(v)
    case I8(v) => to.writeByte(v)
    case Real(v) => to.writeDouble(v)
    case I16(v) => to.writeI16(v)
    case I32(v) => to.writeI32(v)
    case I64(v) => to.writeI64(v)
    case Blob(v) => to.writeBinary(v.duplicate())
    case Id(v) => to.writeUuid(v)
    case Struct(fields) =>
      to.writeStructBegin(new TStruct(""))
      fields.foreach { case (id, field) =>
        to.writeFieldBegin(new TField("", field.kind, id.toShort))
        put(field, to)
        to.writeFieldEnd()
      }
      to.writeFieldStop()
      to.writeStructEnd()
    case Pairs(keys, values, entries) =>
      to.writeMapBegin(new TMap(keys, values, entries.size))
      entries.foreach { case (k, v) =>
        put(k, to)
        put(v, to)
      }
    case Distinct(elements, values) =>
      to.writeSetBegin(new TSet(elements, values.size))
      values.foreach(put(_, to))
    case Items(elements, values) =>
      to.writeListBegin(new TList(elements, values.size))
      values.foreach(put(_, to))
  }

  private def take(kind: Byte, from: TProtocol): ThriftValue = kind match {
    case 2 => Bool(from.readBool())
    case 3 => I8(from.readByte())
    case 4 => Real(from.readDouble())
    case 6 => I16(from.readI16())
    case 8 => I32(from.readI32())
    case 10 => I64(from.readI64())
    case 11 => Blob(from.readBinary())
    case 12 =>
      from.readStructBegin()
      val fields = Iterator.continually(from.readFieldBegin()).takeWhile(_.`type` != 0)
        .map(field => field.id.toInt -> take(field.`type`, from)).toVector
      from.readStructEnd()
      Struct(fields)
    case 15 =>
      val list = from.readListBegin()
      Items(list.elemType, Vector.fill(list.size)(take(list.elemType, from)))
    case other => throw new IllegalArgumentException(s"Parquet's metadata have no field of kind $other")
  }

  private val leaves = Seq[Byte](2, 3, 4, 6, 8, 10, 11)
  private val containers = Seq[Byte](12, 13, 14, 15)

  /** Lists whose size goes into one byte, and longer ones. */
  private val sizes = Gen.frequency(4 -> Gen.choose(0, 3), 1 -> Gen.choose(13, 20))

  private def kinds(depth: Int): Gen[Byte] = Gen.oneOf(if (depth > 0) leaves ++ containers else leaves)

  private def valuesOf(kind: Byte, depth: Int): Gen[ThriftValue] = kind match {
    case 2 => Arbitrary.arbitrary[Boolean].map(Bool(_))
    case 3 => Arbitrary.arbitrary[Byte].map(I8(_))
    case 4 => Arbitrary.arbitrary[Double].map(Real(_))
    case 6 => Arbitrary.arbitrary[Short].map(I16(_))
    case 8 => Arbitrary.arbitrary[Int].map(I32(_))
    case 10 => Arbitrary.arbitrary[Long].map(I64(_))
    case 11 => Gen.listOf(Gen.oneOf('a', 'ü', '\u0000', '\u20ac')).map(text => blob(text.mkString))
    case 12 => structs(depth - 1)
    case 13 =>
      for {
        keys <- kinds(0)
        values <- kinds(depth - 1)
        size <- sizes
        entries <- Gen.listOfN(size, Gen.zip(valuesOf(keys, 0), valuesOf(values, depth - 1)))
      } yield Pairs(keys, values, entries)
    case 14 => listsOf(depth - 1).map { case (elements, values) => Distinct(elements, values) }
    case 15 => listsOf(depth - 1).map { case (elements, values) => Items(elements, values) }
  }

  private def listsOf(depth: Int): Gen[(Byte, Seq[ThriftValue])] = for {
    elements <- kinds(depth)
    size <- sizes
    values <- Gen.listOfN(size, valuesOf(elements, depth))
  } yield (elements, values)

  def blob(text: String): Blob = Blob(ByteBuffer.wrap(text.getBytes(UTF_8)))

  /** Values of any kind, containers in each other up to a depth. Thrift reads no container of UUIDs. */
  private def values(depth: Int): Gen[ThriftValue] =
    Gen.frequency(10 -> kinds(depth).flatMap(valuesOf(_, depth)), 1 -> Gen.uuid.map(Id(_)))

  /** Ids are stored as a small step from the one before, or whole; they may be negative, and need not rise. */
  private val steps =
    Gen.frequency(6 -> Gen.choose(1, 15), 2 -> Gen.choose(16, 2000), 1 -> Gen.choose(-300, 0))

  def structs(depth: Int): Gen[Struct] = for {
    count <- Gen.choose(0, 5)
    ids <- Gen.listOfN(count, steps).map(_.scanLeft(0)(_ + _).tail)
    fields <- Gen.listOfN(count, values(depth))
  } yield Struct(ids.zip(fields))
}
