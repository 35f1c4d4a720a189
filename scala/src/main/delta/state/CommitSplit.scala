package org.apache.spark.sql.delta.upkeep.state

import java.io.{FileNotFoundException, InterruptedIOException, IOException}
import java.net.SocketTimeoutException

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FSDataInputStream}
import org.apache.hadoop.util.functional.FutureIO

/** A part of a commit: the lines that begin in its bytes from `from` until `to`. */
private[upkeep] final case class CommitSplit(commit: FileStatus, from: Long, to: Long) {
  import CommitSplit._

  /** Its lines, as they are in the commit. */
  def lines(conf: Configuration): Array[Byte] = {
    val files = commit.getPath.getFileSystem(conf)
    // A store is not asked for what the listing has told.
    def asListed = FutureIO.awaitFuture(files.openFile(commit.getPath).withFileStatus(commit).build())
    val bytes =
      try read(asListed)
      catch {
        case missing: FileNotFoundException => throw missing
        case stopped: InterruptedIOException if !stopped.isInstanceOf[SocketTimeoutException] => throw stopped
        // A LogStore for several writers may put a copy in place of a commit, and readers of the old one fail.
        case _: IOException => read(files.open(commit.getPath))
      }
    // A line that begins before the split belongs to the split before it.
    val before = bytes.indexOf(NewLine)
    if (from == 0) bytes else if (before < 0) Array.emptyByteArray else bytes.drop(before + 1)
  }

  /** From the byte before the split until the end of its last line. */
  private def read(opened: FSDataInputStream): Array[Byte] = {
    val start = math.max(0, from - 1)
    Using.resource(opened) { in =>
      var bytes = fetch(in, start, to)
      while (bytes.nonEmpty && bytes.last != NewLine && start + bytes.length < commit.getLen) {
        val next = start + bytes.length
        val more = fetch(in, next, math.min(commit.getLen, next + MoreBytes))
        val end = more.indexOf(NewLine)
        bytes ++= (if (end < 0) more else more.take(end + 1))
      }
      bytes
    }
  }

  private def fetch(in: FSDataInputStream, start: Long, end: Long): Array[Byte] = {
    val bytes = new Array[Byte](Math.toIntExact(end - start))
    in.readFully(start, bytes)
    bytes
  }
}

private[upkeep] object CommitSplit {

  private val NewLine: Byte = '\n'
  private val MoreBytes = 1 << 16

  /** Small enough for each thread to hold a split with its actions. */
  private val SplitBytes = 2L << 20

  /**
   * Splits of a commit, in order.
   *
   * @param bytes of each
   */
  def of(commit: FileStatus, bytes: Long = SplitBytes): Seq[CommitSplit] =
    (0L until commit.getLen by bytes).map { from =>
      CommitSplit(commit, from, math.min(commit.getLen, from + bytes))
    }
}
