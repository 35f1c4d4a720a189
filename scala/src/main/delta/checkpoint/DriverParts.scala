package org.apache.spark.sql.delta.upkeep.checkpoint

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.deltaupkeep.SideBySide
import io.deltaupkeep.parquet.file.{EncodedRowGroup, RowGroupEncoder, RowGroupFile, RowShredder}
import io.deltaupkeep.parquet.page.PageLayout
import io.deltaupkeep.store.OutputFiles

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.parquet.hadoop.metadata.CompressionCodecName

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFooter, CheckpointSchema, NonFileActions}
import org.apache.spark.sql.delta.upkeep.spark.RowWriting
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.state.AddBytes
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.execution.datasources.parquet.ParquetOptions

/**
 * Writes files of a checkpoint on the driver, without a Spark job. Rows are collected as columns, which become
 * a row group once they hold `actionsOfPart` actions or take 64 MB of memory.
 *
 * @param kind          sidecars with one row group each, or one file of row groups
 * @param actionsOfPart largest number of actions in a row group
 */
private[upkeep] final class DriverParts(
    handle: DeltaHandle,
    session: ClassicSession,
    checkpointSchema: CheckpointSchema,
    kind: PartKind,
    place: PartPlace,
    actionsOfPart: Long
) {
  import DriverParts._

  private val conf = handle.hadoopConf
  private val isSidecar = !kind.isRowGroups
  private val fileSchema =
    if (isSidecar) checkpointSchema.sidecarParquetSchema else checkpointSchema.parquetSchema
  private val fileActions = new RowWriting(session, checkpointSchema.sidecarSchema, conf)
  private lazy val allActions = new RowWriting(session, checkpointSchema.schema, conf)
  private lazy val keyValues = (if (isSidecar) fileActions else allActions).keyValues
  private val codec = CompressionCodecName.valueOf(
    new ParquetOptions(Map.empty[String, String], session.sessionState.conf).compressionCodecClassName
  )

  /**
   * Runs tasks in parallel and writes the rows that they give to their writers.
   *
   * @param tasks  shared by the threads; each thread takes the next one
   * @param on     makes the function that runs a task by its number, for the writer of a thread
   * @param others actions for a separate row group, after all tasks are done
   */
  def fill(tasks: Int)(on: Writer => Int => Unit)(others: => Seq[Action]): Seq[FileStatus] = {
    val next = new AtomicInteger
    def work(writer: Writer): Unit = {
      val run = on(writer)
      Iterator.continually(next.getAndIncrement()).takeWhile(_ < tasks).foreach { task =>
        // Another thread has failed.
        if (Thread.interrupted()) throw new InterruptedException
        run(task)
      }
    }
    val threads = Seq(tasks, Runtime.getRuntime.availableProcessors(), MaxThreads).min.max(1)
    def sideBySide[A](of: Seq[A])(run: A => Unit): Unit = {
      SideBySide.map(of, "delta-upkeep-parts", threads)(one => session.withActive(run(one))); ()
    }
    Using.Manager { use =>
      val target = use(if (isSidecar) new Sidecars else new OneFile)
      val writers = Seq.fill(threads)(use(new Writer(fileActions, target)))
      sideBySide(writers)(work)
      sideBySide(together(writers))(_.flush())
      if (!isSidecar) {
        val last = use(new Writer(allActions, target))
        NonFileActions.rows(others, checkpointSchema.schema).foreach(last.write)
        last.flush()
      }
      target.finish()
    }.get
  }

  /** Takes rows. Not thread-safe. */
  final class Writer private[DriverParts] (writing: RowWriting, target: Target) extends AutoCloseable {
    private val rows = new RowShredder(writing.schema)
    private val support = writing.support(rows)
    private val sum = new AddBytes(writing.rowSchema)
    private val encoder = new RowGroupEncoder(
      fileSchema,
      PageLayout.of(conf),
      codec,
      CheckpointFooter.bloomFilterSpecs(actionsOfPart),
      conf
    )

    /** @param row with the columns `add` and `remove` */
    def write(row: InternalRow): Unit = {
      support.write(row)
      sum.count(row)
      if (isFull) flush()
    }

    private def isFull: Boolean =
      rows.rows >= actionsOfPart || (rows.rows % BytesEvery == 0 && rows.bytes >= MaxBytes)

    private[DriverParts] def flush(): Unit = if (rows.rows > 0) {
      target.append(encoder.encode(rows), sum.take())
      rows.clear()
    }

    /**
     * Takes over the rows of another writer if together they make at most half a row group. Larger ones are
     * encoded in parallel.
     */
    private[DriverParts] def takeAll(from: Writer): Boolean = {
      val fit = 2 * (rows.rows + from.rows.rows) <= actionsOfPart && rows.bytes + from.rows.bytes <= MaxBytes
      if (fit) {
        rows.addAll(from.rows)
        from.rows.clear()
        sum.takeAll(from.sum)
      }
      fit
    }

    override def close(): Unit = encoder.close()
  }

  private def together(writers: Seq[Writer]): Seq[Writer] =
    writers.foldLeft(List.empty[Writer]) {
      case (last :: done, writer) if last.takeAll(writer) => last :: done
      case (done, writer) => writer :: done
    }

  private def newFile(path: Path, moreKeyValues: Map[String, String] = Map.empty): RowGroupFile =
    new RowGroupFile(fileSchema, keyValues ++ moreKeyValues, OutputFiles.of(path, conf))

  private def statusOf(path: Path): FileStatus = path.getFileSystem(conf).getFileStatus(path)

  /** Takes row groups. Thread-safe. */
  private sealed trait Target extends AutoCloseable {
    def append(group: EncodedRowGroup, sum: Map[String, String]): Unit
    def finish(): Seq[FileStatus]
  }

  private final class Sidecars extends Target {
    private val parts = new AtomicInteger
    private val written = new ConcurrentLinkedQueue[FileStatus]

    override def append(group: EncodedRowGroup, sum: Map[String, String]): Unit = {
      val path = place.path(conf, parts.getAndIncrement())
      Using.resource(newFile(path, sum)) { file =>
        file.append(group)
        file.finish()
      }
      written.add(statusOf(path))
      ()
    }
    override def finish(): Seq[FileStatus] = written.asScala.toSeq
    override def close(): Unit = ()
  }

  private final class OneFile extends Target {
    private val path = place.path(conf, 0)
    private val file = newFile(path)

    override def append(group: EncodedRowGroup, sum: Map[String, String]): Unit = file.append(group)
    override def finish(): Seq[FileStatus] = {
      file.finish()
      Seq(statusOf(path))
    }
    override def close(): Unit = file.close()
  }
}

private object DriverParts {
  private val MaxBytes = 64L << 20

  /** Each thread takes up to 100 MB of memory. */
  private val MaxThreads = 4
  private val BytesEvery = 256
}
