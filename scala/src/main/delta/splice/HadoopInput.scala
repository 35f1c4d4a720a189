package org.apache.spark.sql.delta.upkeep.splice

import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FutureDataInputStreamBuilder, Path}
import org.apache.hadoop.fs.impl.FutureDataInputStreamBuilderImpl
import org.apache.hadoop.util.functional.FutureIO
import org.apache.parquet.hadoop.util.HadoopStreams
import org.apache.parquet.io.{InputFile, SeekableInputStream}

import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.upkeep.spark.TaskAttempts

/**
 * An input that is read through Hadoop's file systems. Its size is known from the log, which saves a request.
 *
 * @param readPolicy how an object store should fetch it (Hadoop, `fs.option.openfile.read.policy`)
 */
final class HadoopInput(input: SpliceInput, readPolicy: String, conf: Configuration)
    extends InputFile {
  import HadoopInput._

  private val path = new Path(new URI(input.uri))
  // Other threads of the task open inputs too. The driver has no task.
  private val task = Option(TaskContext.get())

  override def getLength: Long = input.size

  /** Opens it, unless its task was killed. */
  override def newStream(): SeekableInputStream = {
    task.foreach(TaskAttempts.stopIfKilled)
    val status = new FileStatus(input.size, false, 1, BlockSize, input.modificationTime, path)
    val builder: FutureDataInputStreamBuilder = path
      .getFileSystem(conf)
      .openFile(path)
      .withFileStatus(status)
      .opt("fs.option.openfile.read.policy", readPolicy)
    HadoopStreams.wrap(FutureIO.awaitFuture(unbuffered(builder).build()))
  }

  /** Reads are large ranges, which a buffer would only copy once more. */
  private def unbuffered(builder: FutureDataInputStreamBuilder): FutureDataInputStreamBuilder =
    builder match {
      case known: FutureDataInputStreamBuilderImpl => known.bufferSize(SmallBuffer)
      case other => other
    }

  override def toString: String = path.toString
}

object HadoopInput {

  /** For a few ranges of a file. */
  val RandomAccess = "random"

  /** For all of a file. */
  val WholeFile = "whole-file"

  private val BlockSize = 128L << 20
  private val SmallBuffer = 4096
}
