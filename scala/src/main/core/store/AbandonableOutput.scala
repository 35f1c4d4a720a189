package io.deltaupkeep.store

import scala.util.Try

import org.apache.hadoop.fs.Abortable
import org.apache.parquet.io.{OutputFile, PositionOutputStream}

/** A new file that is abandoned if writing it fails: parquet-java then leaves the stream open. */
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

  /** Frees its resources. A part of the file may appear, and the caller has to delete it. */
  def abandon(): Unit = if (!abort()) opened.foreach(stream => Try(stream.close()))
}
