package org.apache.spark.sql.delta.upkeep.spark

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.parquet.column.ColumnReader
import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, PrimitiveType, Type}
import org.apache.parquet.schema.LogicalTypeAnnotation.{IntLogicalTypeAnnotation, StringLogicalTypeAnnotation}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition.REPEATED

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * A field as a Parquet file stores it: as a text, a whole number, a boolean, a map of texts, or a struct of these.
 */
private[spark] sealed trait StoredColumn {

  /** As the file has it, with what is read and nothing else. */
  def stored: Type

  def open(columns: Seq[String] => ColumnReader): StoredColumn.Values
}

private[spark] object StoredColumn {

  /** The values of a column, row by row. */
  sealed trait Values {

    /** Definition level of the next value. */
    def level: Int

    /** The next value, or null. */
    def next(): Any

    /** Leaves the next value out. */
    def skip(): Unit
  }

  /** The columns of a file; None if one of them is stored in another way. */
  def row(columns: StructType, file: GroupType): Option[Struct] = struct(columns, file, Nil, 0)

  private def struct(fields: StructType, group: GroupType, at: Seq[String], level: Int): Option[Struct] = {
    val found = fields.map { field =>
      val inFile = group.getFields.asScala.filter(_.getName.equalsIgnoreCase(field.name)).toSeq
      inFile match {
        case Seq() => Some(None)
        case Seq(stored) => column(field.dataType, stored, at :+ stored.getName, level).map(Some(_))
        case _ => None
      }
    }
    Option.when(found.forall(_.nonEmpty))(Struct(group, found.flatten.toIndexedSeq, level))
  }

  private def column(dataType: DataType, stored: Type, at: Seq[String], above: Int): Option[StoredColumn] = {
    val level = above + (if (stored.isRepetition(Type.Repetition.OPTIONAL)) 1 else 0)
    if (stored.isRepetition(REPEATED)) None
    else
      (dataType, stored) match {
        case (fields: StructType, group: GroupType) =>
          struct(fields, group, at, level).filter(_.types.nonEmpty)
        case (MapType(StringType, StringType, _), group: GroupType) => texts(group, at, level)
        case (_, leaf: PrimitiveType) => getter(dataType, leaf).map(Leaf(leaf, at, level, _))
        case _ => None
      }
  }

  /** A map of texts (Parquet's LogicalTypes, 'Maps'). */
  private def texts(map: GroupType, at: Seq[String], level: Int): Option[Texts] =
    for {
      entry <- map.getFields.asScala.headOption if map.getFieldCount == 1 && !entry.isPrimitive
      group = entry.asGroupType if entry.isRepetition(REPEATED) && group.getFieldCount == 2
      Seq(key: PrimitiveType, value: PrimitiveType) <- Some(group.getFields.asScala.toSeq)
      if key.getName == "key" && value.getName == "value" && !key.isRepetition(REPEATED) && !value
        .isRepetition(REPEATED)
      within = at :+ entry.getName
      Leaf(_, keyAt, keyLevel, _) <- column(StringType, key, within :+ "key", level + 1)
      Leaf(_, valueAt, valueLevel, _) <- column(StringType, value, within :+ "value", level + 1)
    } yield Texts(map, level, keyAt, keyLevel, valueAt, valueLevel)

  private def getter(dataType: DataType, stored: PrimitiveType): Option[ColumnReader => Any] = {
    val annotation = stored.getLogicalTypeAnnotation
    (dataType, stored.getPrimitiveTypeName) match {
      case (StringType, BINARY)
          if annotation == null || annotation.isInstanceOf[StringLogicalTypeAnnotation] =>
        Some(text)
      case (LongType, INT64) if isPlain(annotation, bits = 64) => Some(_.getLong)
      case (IntegerType, INT32) if isPlain(annotation, bits = 32) => Some(_.getInteger)
      case (BooleanType, BOOLEAN) => Some(_.getBoolean)
      case _ => None
    }
  }

  private def isPlain(annotation: LogicalTypeAnnotation, bits: Int): Boolean = annotation match {
    case null => true
    case whole: IntLogicalTypeAnnotation => whole.isSigned && whole.getBitWidth == bits
    case _ => false
  }

  private def text(reader: ColumnReader): UTF8String = UTF8String.fromBytes(reader.getBinary.getBytes)

  final case class Struct(group: GroupType, fields: IndexedSeq[Option[StoredColumn]], level: Int)
      extends StoredColumn {
    def types: Seq[Type] = fields.flatten.map(_.stored)
    override def stored: Type = group.withNewFields(types.asJava)
    override def open(columns: Seq[String] => ColumnReader): StructValues =
      new StructValues(fields.map(_.map(_.open(columns)).orNull).toArray, level)
  }

  private final case class Leaf(stored: Type, at: Seq[String], level: Int, get: ColumnReader => Any)
      extends StoredColumn {
    override def open(columns: Seq[String] => ColumnReader): Values = new LeafValues(columns(at), level, get)
  }

  private final case class Texts(
      stored: Type,
      level: Int,
      keyAt: Seq[String],
      keyLevel: Int,
      valueAt: Seq[String],
      valueLevel: Int
  ) extends StoredColumn {
    override def open(columns: Seq[String] => ColumnReader): Values = new TextsValues(
      level,
      new LeafValues(columns(keyAt), keyLevel, text),
      new LeafValues(columns(valueAt), valueLevel, text)
    )
  }

  private final class LeafValues(reader: ColumnReader, defined: Int, get: ColumnReader => Any)
      extends Values {
    override def level: Int = reader.getCurrentDefinitionLevel
    def repetition: Int = reader.getCurrentRepetitionLevel
    override def next(): Any = {
      val value = if (level == defined) get(reader) else null
      reader.consume()
      value
    }

    override def skip(): Unit = {
      if (level == defined) reader.skip()
      reader.consume()
    }
  }

  /** @param values null for fields that the file lacks */
  final class StructValues(values: Array[Values], defined: Int) extends Values {
    private val first = values.indexWhere(_ != null)

    override def level: Int = values(first).level

    override def next(): Any = {
      val isNull = level < defined
      val row = fields()
      if (isNull) null else row
    }

    override def skip(): Unit = {
      var i = 0
      while (i < values.length) {
        if (values(i) != null) values(i).skip()
        i += 1
      }
    }

    def fields(): InternalRow = {
      val found = new Array[Any](values.length)
      var i = 0
      while (i < found.length) {
        if (values(i) != null) found(i) = values(i).next()
        i += 1
      }
      new GenericInternalRow(found)
    }
  }

  private final class TextsValues(defined: Int, keys: LeafValues, values: LeafValues) extends Values {
    override def level: Int = keys.level

    override def next(): Any =
      if (level > defined) entries()
      else {
        val isNull = level < defined
        keys.next()
        values.next()
        if (isNull) null else TextsValues.None
      }

    override def skip(): Unit =
      do {
        keys.skip()
        values.skip()
      } while (keys.repetition > 0)

    private def entries(): ArrayBasedMapData = {
      val (ofKeys, ofValues) = (mutable.ArrayBuffer.empty[Any], mutable.ArrayBuffer.empty[Any])
      do {
        ofKeys += keys.next()
        ofValues += values.next()
      } while (keys.repetition > 0)
      new ArrayBasedMapData(new GenericArrayData(ofKeys.toArray), new GenericArrayData(ofValues.toArray))
    }
  }

  private object TextsValues {
    val None =
      new ArrayBasedMapData(new GenericArrayData(Array.empty[Any]), new GenericArrayData(Array.empty[Any]))
  }
}
