package io.deltaupkeep.parquet.footer

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.{MessageType, Types}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT32
import org.apache.parquet.schema.Type.Repetition
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.execution.datasources.parquet.SparkToParquetSchemaConverter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{Metadata, MetadataBuilder, StructField, StructType}

class SchemaBytesSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private def sent(schema: MessageType): MessageType = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(SchemaBytes.of(schema))
    val stored = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject()
    stored.asInstanceOf[SchemaBytes].schema
  }

  test("any name goes through") {
    val names = Seq(" ", ",", ";", "{", "}", "(", ")", "=", "\t", "\n", "a.b", "`", "\"", "ünï", "\u0000", "")
      .flatMap(strange => Seq(strange, s"a${strange}1"))
    val fields = names.distinct.map(Types.primitive(INT32, Repetition.OPTIONAL).named(_))
    val schema = Types
      .buildMessage()
      .addFields(Types.buildGroup(Repetition.REQUIRED).addFields(fields: _*).named("s;t"))
      .addFields(fields: _*)
      .named("m n")
    assert(sent(schema) == schema && sent(schema).getName == schema.getName)
    assert(sent(schema).getPaths.asScala.map(_.toSeq) == schema.getPaths.asScala.map(_.toSeq))
  }

  test("every type of Spark goes through, with its field id") {
    val types = Table(
      "type",
      "BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h STRING, i BINARY",
      "DATE, b TIMESTAMP, c TIMESTAMP_NTZ, d DECIMAL(9,2), e DECIMAL(18,0), f DECIMAL(38,38)",
      "STRUCT<x: INT, y: STRUCT<z: STRING>>, b ARRAY<ARRAY<INT>>, c MAP<STRING, ARRAY<DATE>>"
    )
    val timestamps = Seq("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS")
    forAll(types) { text =>
      val columns = StructType(StructType.fromDDL(s"a $text").zipWithIndex.map { case (field, i) =>
        field.copy(metadata = idOf(i))
      } :+ StructField("last", StructType.fromDDL("x INT")("x").dataType, nullable = false, idOf(40)))
      for (timestamp <- timestamps; legacy <- Seq("true", "false")) {
        val conf = new SQLConf
        conf.setConfString(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key, timestamp)
        conf.setConfString(SQLConf.PARQUET_WRITE_LEGACY_FORMAT.key, legacy)
        val schema = new SparkToParquetSchemaConverter(conf).convert(columns)
        assert(schema.getColumnDescription(Array("last")).getPrimitiveType.getId.intValue == 40)
        assert(sent(schema) == schema, legacy)
      }
    }
  }

  private def idOf(i: Int): Metadata = new MetadataBuilder().putLong("parquet.field.id", i.toLong).build()
}
