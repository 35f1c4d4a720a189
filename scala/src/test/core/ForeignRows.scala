package io.deltaupkeep

import java.math.BigInteger
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.{ArrayList => JavaList, LinkedHashMap => JavaMap, List => AnyJavaList}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.NanoTime
import org.apache.parquet.filter2.compat.FilterCompat
import org.apache.parquet.filter2.predicate.{FilterApi, FilterPredicate, Operators}
import org.apache.parquet.hadoop.{ParquetFileReader, ParquetReader}
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.hadoop.example.GroupReadSupport
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, MessageType, PrimitiveType, Type}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * parquet-java's own reader, without Spark. Values come as JSON: bytes and texts as Latin-1, decimals unscaled, times in
 * microseconds, floating point numbers as texts.
 */
object ForeignRows {

  private val json = new ObjectMapper
  private val Julian1970 = 2440588
  private val MicrosOfDay = 86400000000L
  // A new one would read Hadoop's files again.
  private val defaults = new Configuration

  /** Reads some columns of a file: a list for each row. */
  def read(path: String, columns: AnyJavaList[String]): String = {
    val rows = new JavaList[AnyRef]
    each(path, projected(path, columns.asScala.toSeq), FilterCompat.NOOP) { group =>
      rows.add(list(group.getType.getFields.asScala.indices.map(valueOf(group, _))))
    }
    json.writeValueAsString(rows)
  }

  /** Counts the rows that a filter leaves; -1 if the column cannot hold the value, or has no order. */
  def count(path: String, column: AnyJavaList[String], operator: String, value: String): Long = {
    val schema = projected(path, Seq(column.get(0)))
    val leaf = schema.getType(column.asScala.toSeq: _*).asPrimitiveType
    predicate(leaf, column.asScala.mkString("."), operator, Option(value)) match {
      case None => -1
      case Some(filter) =>
        var found = 0L
        each(path, schema, FilterCompat.get(filter))(_ => found += 1)
        found
    }
  }

  /** Codec, version of the pages and encodings of each column chunk. */
  def forms(path: String): AnyJavaList[String] = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(new Path(path), defaults))
    try reader.getFooter.getBlocks.asScala.flatMap(_.getColumns.asScala.map(form)).asJava
    finally reader.close()
  }

  private def form(chunk: ColumnChunkMetaData): String = Option(chunk.getEncodingStats) match {
    case None => s"${chunk.getCodec} v? ${chunk.getEncodings.asScala.map(_.name).toSeq.sorted.mkString("+")}"
    case Some(stats) =>
      val version = if (stats.usesV2Pages) "v2" else "v1"
      s"${chunk.getCodec} $version ${stats.getDataEncodings.asScala.map(_.name).toSeq.sorted.mkString("+")}"
  }

  private def each(
      path: String,
      schema: MessageType,
      filter: FilterCompat.Filter
  )(use: Group => Unit): Unit = {
    val conf = new Configuration(defaults)
    conf.set(ReadSupport.PARQUET_READ_SCHEMA, schema.toString)
    val reader =
      ParquetReader.builder(new GroupReadSupport, new Path(path)).withConf(conf).withFilter(filter).build()
    try Iterator.continually(reader.read()).takeWhile(_ != null).foreach(use)
    finally reader.close()
  }

  private def projected(path: String, columns: Seq[String]): MessageType = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(new Path(path), defaults))
    try {
      val whole = reader.getFooter.getFileMetaData.getSchema
      new MessageType(whole.getName, columns.map(name => whole.getType(whole.getFieldIndex(name))).asJava)
    } finally reader.close()
  }

  private def list(values: Iterable[AnyRef]): AnyRef = {
    val found = new JavaList[AnyRef]
    values.foreach(found.add)
    found
  }

  private def valueOf(group: Group, field: Int): AnyRef =
    if (group.getFieldRepetitionCount(field) == 0) null else valueAt(group, field, 0)

  private def valueAt(group: Group, field: Int, index: Int): AnyRef = {
    val of = group.getType.getType(field)
    if (of.isPrimitive) leafOf(group, of.asPrimitiveType, field, index)
    else nested(group.getGroup(field, index), of.asGroupType)
  }

  private def nested(group: Group, of: GroupType): AnyRef = of.getLogicalTypeAnnotation match {
    case _: ListLogicalTypeAnnotation => elements(group, of)
    case _: MapLogicalTypeAnnotation | _: MapKeyValueTypeAnnotation =>
      list(items(group).map(pair => list(Seq(valueOf(pair, 0), valueOf(pair, 1)))))
    case _ => struct(group, of)
  }

  private def struct(group: Group, of: GroupType): AnyRef = {
    val found = new JavaMap[String, AnyRef]
    of.getFields.asScala.zipWithIndex.foreach { case (field, i) =>
      found.put(field.getName, valueOf(group, i))
    }
    found
  }

  private def items(group: Group): Seq[Group] =
    (0 until group.getFieldRepetitionCount(0)).map(group.getGroup(0, _))

  private def elements(group: Group, of: GroupType): AnyRef =
    if (isElement(of.getType(0), of.getName))
      list((0 until group.getFieldRepetitionCount(0)).map(valueAt(group, 0, _)))
    else list(items(group).map(valueOf(_, 0)))

  /** Whether a list has two levels, by the rules of the format. */
  private def isElement(repeated: Type, list: String): Boolean = repeated.isPrimitive ||
    repeated.asGroupType.getFieldCount != 1 || repeated.getName == "array" || repeated.getName == s"${list}_tuple"

  private def leafOf(group: Group, leaf: PrimitiveType, field: Int, index: Int): AnyRef =
    leaf.getPrimitiveTypeName match {
      case BOOLEAN => Boolean.box(group.getBoolean(field, index))
      case FLOAT => group.getFloat(field, index).toDouble.toString
      case DOUBLE => group.getDouble(field, index).toString
      case INT32 => Int.box(group.getInteger(field, index))
      case INT64 => Long.box(inMicros(leaf, group.getLong(field, index)))
      case INT96 =>
        val time = NanoTime.fromBinary(group.getInt96(field, index))
        Long.box((time.getJulianDay - Julian1970) * MicrosOfDay + time.getTimeOfDayNanos / 1000)
      case BINARY | FIXED_LEN_BYTE_ARRAY =>
        val bytes = group.getBinary(field, index).getBytes
        if (isDecimal(leaf)) new BigInteger(bytes) else new String(bytes, ISO_8859_1)
    }

  private def isDecimal(leaf: PrimitiveType): Boolean =
    leaf.getLogicalTypeAnnotation.isInstanceOf[DecimalLogicalTypeAnnotation]

  private def inMicros(leaf: PrimitiveType, value: Long): Long =
    if (isMillis(leaf)) Math.multiplyExact(value, 1000L) else value

  private def isMillis(leaf: PrimitiveType): Boolean = leaf.getLogicalTypeAnnotation match {
    case time: TimestampLogicalTypeAnnotation => time.getUnit == LogicalTypeAnnotation.TimeUnit.MILLIS
    case _ => false
  }

  private def predicate(
      leaf: PrimitiveType,
      column: String,
      operator: String,
      value: Option[String]
  ): Option[FilterPredicate] = leaf.getPrimitiveTypeName match {
    case BOOLEAN =>
      val named = FilterApi.booleanColumn(column)
      val wanted: java.lang.Boolean = value.map(text => Boolean.box(text.toBoolean)).orNull
      operator match {
        case "not null" => Some(FilterApi.notEq(named, wanted))
        case "=" | "null" => Some(FilterApi.eq(named, wanted))
        case _ => None
      }
    case INT96 => None
    case INT32 =>
      ordered(FilterApi.intColumn(column), operator, value.map(text => Int.box(text.toInt)).orNull)
    case INT64 if isMillis(leaf) && value.exists(_.toLong % 1000 != 0) => None
    case INT64 =>
      val unit = if (isMillis(leaf)) 1000 else 1
      ordered(FilterApi.longColumn(column), operator, value.map(text => Long.box(text.toLong / unit)).orNull)
    case FLOAT =>
      ordered(FilterApi.floatColumn(column), operator, value.map(text => Float.box(text.toFloat)).orNull)
    case DOUBLE =>
      ordered(FilterApi.doubleColumn(column), operator, value.map(text => Double.box(text.toDouble)).orNull)
    case BINARY | FIXED_LEN_BYTE_ARRAY =>
      ordered(FilterApi.binaryColumn(column), operator, value.map(binaryOf(leaf, _)).orNull)
  }

  private def binaryOf(leaf: PrimitiveType, text: String): Binary = {
    val bytes = if (isDecimal(leaf)) new BigInteger(text).toByteArray else text.getBytes(ISO_8859_1)
    val sign = if (isDecimal(leaf) && bytes(0) < 0) -1 else 0
    Binary.fromConstantByteArray(Array.fill(leaf.getTypeLength - bytes.length)(sign.toByte) ++ bytes)
  }

  private def ordered[T <: Comparable[T], C <: Operators.Column[T] with Operators.SupportsLtGt](
      column: C,
      operator: String,
      value: T
  ): Option[FilterPredicate] = operator match {
    case "=" | "null" => Some(FilterApi.eq(column, value))
    case "not null" => Some(FilterApi.notEq(column, value))
    case "<" => Some(FilterApi.lt(column, value))
    case ">" => Some(FilterApi.gt(column, value))
    case "<=" => Some(FilterApi.ltEq(column, value))
    case ">=" => Some(FilterApi.gtEq(column, value))
  }
}
