package io.deltaupkeep.store

import scala.util.Try

import org.apache.hadoop.fs.Abortable
import org.apache.parquet.io.{OutputFile, PositionOutputStream}

/** A new file that is given up if writing it fails. parquet-java leaves the stream to the file open then. */
private[deltaupkeep] final class AbandonableOutput(output: OutputFile) extends OutputFile {
  private var opened = Option.empty[PositionOutputStream]

  override def create(blockSizeHint: Long): PositionOutputStream = opening(output.create(blockSizeHint))

  override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream =
    opening(output.createOrOverwrite(blockSizeHint))

  private def opening(stream: PositionOutputStream): PositionOutputStream = {
    opened = Some(stream)
    stream
  }

  override def supportsBlockSize: Boolean = output.supportsBlockSize

  override def defaultBlockSize: Long = output.defaultBlockSize

  override def getPath: String = output.getPath

  /** Aborts the upload, so that nothing of the file appears. Returns false if the store cannot. */
  def abort(): Boolean = opened.exists {
    case stream: Abortable => Try(stream.abort()).isSuccess
    case _ => false
  }

  /** Aborts the upload if writing fails. */
  def orAbort[T](write: => T): T =
    try write
    catch {
      case failure: Throwable =>
        abort()
        throw failure
    }

  /** Frees what the file takes. A part of it may appear, and is for the caller to delete. */
  def abandon(): Unit = if (!abort()) opened.foreach(stream => Try(stream.close()))
}
