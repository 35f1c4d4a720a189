package org.apache.spark.sql.delta.upkeep

import java.io.File
import java.nio.file.{Files, Path}

import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.ParquetWriter
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.io.LocalOutputFile
import org.apache.parquet.schema.MessageType
import org.scalatest.Assertions

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.{Action, AddFile, Metadata, Protocol}
import org.apache.spark.sql.types.StructType

/** Tables whose files and log others wrote. */
object ForeignTables extends Assertions {
  import TestSession.root

  private val spark: SparkSession = TestSession.spark

  /** A data file: how it is written, its statistics in the log, and its value of the partition column `p`. */
  final case class ForeignFile(
      write: Path => Unit,
      stats: Option[String] = None,
      partition: Option[String] = None
  )

  /** A file by parquet-java's example writer. */
  def fileOf(schema: MessageType, conf: (String, String)*)(rows: (Group => Unit)*): ForeignFile =
    ForeignFile { path =>
      val builder = ExampleParquetWriter.builder(new LocalOutputFile(path)).withType(schema)
      conf.foreach { case (key, value) => builder.config(key, value) }
      val writer: ParquetWriter[Group] = builder.build()
      try rows.foreach { fill =>
          val group = new SimpleGroupFactory(schema).newGroup()
          fill(group)
          writer.write(group)
        }
      finally writer.close()
    }

  /** The path of a new table, whose log names the files in one commit. */
  def tableOf(
      name: String,
      schema: StructType,
      configuration: (String, String)*
  )(files: ForeignFile*): String = {
    val directory = new File(root, name)
    val log = new File(directory, "_delta_log").toPath
    Files.createDirectories(log)
    val adds = files.zipWithIndex.map { case (file, i) =>
      val path = directory.toPath.resolve(s"foreign %20é-$i.parquet")
      file.write(path)
      AddFile(
        new HadoopPath(path.getFileName.toString).toUri.toString,
        file.partition.map("p" -> _).toMap,
        Files.size(path),
        modificationTime = i.toLong,
        dataChange = true,
        stats = file.stats.orNull
      )
    }
    val isMapped = configuration.exists(_._1.startsWith("delta.columnMapping"))
    val protocol = if (isMapped) Protocol(2, 5) else Protocol(1, 2)
    val metadata = Metadata(
      id = name,
      schemaString = schema.json,
      partitionColumns = files.flatMap(_.partition.map(_ => "p")).distinct,
      configuration = configuration.toMap
    )
    val actions: Seq[Action] = Seq(protocol, metadata) ++ adds
    Files.writeString(log.resolve(f"${0}%020d.json"), actions.map(_.json).mkString("\n"))
    directory.getAbsolutePath
  }

  def rowsOf(path: String, condition: String = "true"): Seq[Row] =
    spark.read.format("delta").load(path).where(condition).collect().toSeq

  /** Asserts that OPTIMIZE makes one file of all, of the same rows; returns the tier and the reason. */
  def optimize(path: String): (String, String) = optimizePartitions(path).values.head

  /** The same for each partition, which is written as in `p=a`. */
  def optimizePartitions(path: String): Map[String, (String, String)] = {
    val before = rowsOf(path)
    val bins = spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("inline(bins)").collect()
    assert(DeltaLog.forTable(spark, path).update().numOfFiles == bins.length, path)
    assert(rowsOf(path).map(textOf).sorted == before.map(textOf).sorted, path)
    bins.map { bin =>
      bin.getAs[String]("partition") -> (bin.getAs[String]("tier") -> bin.getAs[String]("reason"))
    }.toMap
  }

  private def textOf(row: Row): String = row.toSeq
    .map {
      case bytes: Array[Byte] => bytes.toSeq
      case other => other
    }
    .mkString("|")
}
