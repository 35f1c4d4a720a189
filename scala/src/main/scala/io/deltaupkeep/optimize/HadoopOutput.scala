package io.deltaupkeep.optimize

import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataOutputStream, LocalFileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.parquet.hadoop.util.{HadoopOutputFile, HadoopStreams}
import org.apache.parquet.io.{OutputFile, PositionOutputStream}

/** New files. */
private[optimize] object HadoopOutput {

  def of(file: Path, conf: Configuration): OutputFile = file.getFileSystem(conf) match {
    case local: LocalFileSystem if local.getClass == classOf[LocalFileSystem] =>
      new LocalOutput(file, local, conf)
    case _ => HadoopOutputFile.fromPath(file, conf)
  }
}

/**
 * A new file of the local file system. Hadoop runs chmod for each, unless it has its native code: to start a process
 * takes longer than to splice a small partition. Here Java gives the file the same permissions.
 */
private final class LocalOutput(file: Path, local: LocalFileSystem, conf: Configuration) extends OutputFile {

  override def create(blockSizeHint: Long): PositionOutputStream = create(blockSizeHint, overwrite = false)

  override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream =
    create(blockSizeHint, overwrite = true)

  private def create(blockSizeHint: Long, overwrite: Boolean): PositionOutputStream = {
    val stream = local.create(
      file,
      LocalOutput.NoPermission,
      overwrite,
      LocalOutput.BufferBytes,
      local.getDefaultReplication(file),
      math.max(local.getDefaultBlockSize(file), blockSizeHint),
      null
    )
    HadoopStreams.wrap(permitted(stream))
  }

  private def permitted(stream: FSDataOutputStream): FSDataOutputStream = {
    val permission = FsPermission.getFileDefault.applyUMask(FsPermission.getUMask(conf))
    Files.setPosixFilePermissions(
      local.pathToFile(file).toPath,
      PosixFilePermissions.fromString(permission.toString)
    )
    stream
  }

  override def supportsBlockSize: Boolean = true
  override def defaultBlockSize: Long = local.getDefaultBlockSize(file)
  override def getPath: String = file.toString
}

private object LocalOutput {

  /** As Hadoop's checksummed file systems take it: they set none. */
  val NoPermission: FsPermission = null

  /** Parquet has a buffer of its own. */
  val BufferBytes = 4096
}
