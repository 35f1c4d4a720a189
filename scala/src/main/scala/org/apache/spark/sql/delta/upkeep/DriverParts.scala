package org.apache.spark.sql.delta.upkeep

import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.deltaupkeep.UpkeepException
import io.deltaupkeep.parquet.{PageLayout, RowGroupFile, RowShredder}

import org.apache.hadoop.fs.FileStatus
import org.apache.hadoop.mapreduce.Job
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.util.HadoopOutputFile

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.execution.datasources.parquet.{
  ParquetFileFormat,
  ParquetOptions,
  ParquetWriteSupport
}
import org.apache.spark.util.ThreadUtils

/**
 * Writes files of a checkpoint on the driver, without a Spark job: values go from rows into columns, and columns
 * into a file of one row group as soon as it has its number of actions, or they take 64 MB of memory.
 *
 * @param actionsOfPart of a file, at most
 */
private[upkeep] final class DriverParts(
    handle: DeltaHandle,
    session: ClassicSession,
    shape: CheckpointShape,
    kind: PartKind,
    place: PartPlace,
    actionsOfPart: Long
) {
  import DriverParts._

  private val rowSchema =
    if (kind.contents == PartContents.All) shape.schema else shape.sidecarSchema
  private val fileSchema =
    if (kind == PartKind.Sidecar) shape.sidecarParquetSchema else shape.parquetSchema
  private val conf = {
    val job = Job.getInstance(handle.hadoopConf)
    new ParquetFileFormat().prepareWrite(session, job, Map.empty, rowSchema)
    job.getConfiguration
  }
  private val context = new ParquetWriteSupport().init(conf)
  private val codec = CompressionCodecName.valueOf(
    new ParquetOptions(Map.empty[String, String], session.sessionState.conf).compressionCodecClassName
  )
  private val parts = new AtomicInteger
  private val written = mutable.ArrayBuffer.empty[FileStatus]

  /**
   * Writes what tasks put into writers, side by side.
   *
   * @param tasks that threads share, each taking the next one
   * @param on    gives what does a task, by its number, with a thread's writer
   */
  def fill(tasks: Int)(on: Writer => Int => Unit): Seq[FileStatus] = {
    val next = new AtomicInteger
    def work(writer: Writer): Unit =
      Iterator.continually(next.getAndIncrement()).takeWhile(_ < tasks).foreach(on(writer))
    val threads = Seq(tasks, Runtime.getRuntime.availableProcessors(), MaxThreads).min.max(1)
    val writers = Seq.fill(threads)(new Writer)
    try {
      ThreadUtils.parmap(writers, "delta-upkeep-parts", threads)(writer => session.withActive(work(writer)))
      Using.resource(newFile())(file => together(writers.map(_.rows)).foreach(write(_, file)))
      written.toSeq
    } catch { case e: SparkException if e.getCause.isInstanceOf[UpkeepException] => throw e.getCause }
    finally writers.foreach(_.close())
  }

  /** Takes rows. For one thread at a time. */
  final class Writer extends AutoCloseable {
    private[DriverParts] val rows = new RowShredder(context.getSchema)
    private val support = new ParquetWriteSupport
    private val file = newFile()
    support.init(conf)
    support.prepareForWrite(rows)

    /** @param row with the columns `add` and `remove`, or with all where the files hold all actions */
    def write(row: InternalRow): Unit = {
      support.write(row)
      if (isFull) DriverParts.this.write(rows, file)
    }

    private def isFull: Boolean =
      rows.rows >= actionsOfPart || (rows.rows % BytesEvery == 0 && rows.bytes >= MaxBytes)

    override def close(): Unit = file.close()
  }

  private def newFile(): RowGroupFile = new RowGroupFile(
    fileSchema,
    PageLayout.of(conf),
    codec,
    CheckpointFooter.bloomFilterSpecs(actionsOfPart),
    context.getExtraMetaData.asScala.toMap,
    conf
  )

  private def write(rows: RowShredder, file: RowGroupFile): Unit = {
    val path = place.path(conf, parts.getAndIncrement())
    file.write(rows, HadoopOutputFile.fromPath(path, conf))
    rows.clear()
    val status = path.getFileSystem(conf).getFileStatus(path)
    synchronized(written += status)
  }

  /** Puts the rows of several writers together, as far as they fit into files. */
  private def together(rest: Seq[RowShredder]): Seq[RowShredder] =
    rest.filter(_.rows > 0).foldLeft(List.empty[RowShredder]) {
      case (last :: done, rows)
          if last.rows + rows.rows <= actionsOfPart && last.bytes + rows.bytes <= MaxBytes =>
        last.addAll(rows)
        last :: done
      case (done, rows) => rows :: done
    }
}

private object DriverParts {
  private val MaxBytes = 64L << 20

  /** Each takes up to 100 MB of memory. */
  private val MaxThreads = 4
  private val BytesEvery = 256
}
