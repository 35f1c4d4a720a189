package io.deltaupkeep.store

import java.nio.file.{FileSystems, Files}
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  Abortable,
  FSDataOutputStream,
  FsConstants,
  LocalFileSystem,
  Path,
  RawLocalFileSystem
}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.parquet.hadoop.util.{HadoopOutputFile, HadoopStreams}
import org.apache.parquet.io.{DelegatingPositionOutputStream, OutputFile, PositionOutputStream}

/** New files, written through Hadoop's file systems. */
object OutputFiles {

  def of(path: Path, conf: Configuration): OutputFile =
    if (isLocal(path, conf)) new LocalOutput(path, conf) else new StoreOutput(path, conf, ifAbsent = false)

  /** Whether the store itself can refuse to replace a file. */
  def refuseToReplace(path: Path, conf: Configuration): Boolean =
    path.getFileSystem(conf).hasPathCapability(path, StoreOutput.PutIfAbsent)

  /** The same as [[of]]; if the store can [[refuseToReplace]] a file, closing it fails if there is one of its name. */
  def ifAbsent(path: Path, conf: Configuration): OutputFile =
    if (isLocal(path, conf)) new LocalOutput(path, conf) else new StoreOutput(path, conf, ifAbsent = true)

  /** Whether Hadoop's own local file system writes the file. Hive's, which Spark finds, differs in renames only. */
  private def isLocal(path: Path, conf: Configuration): Boolean =
    HasPosixFiles && LocalFileSystems(path.getFileSystem(conf).getClass.getName)

  private val HasPosixFiles = FileSystems.getDefault.supportedFileAttributeViews.contains("posix")
  private val LocalFileSystems =
    Set(classOf[LocalFileSystem].getName, "org.apache.hadoop.hive.ql.io.ProxyLocalFileSystem")
}

/** Writes as parquet-java does, and its streams can be aborted if those of the file system can. */
private final class StoreOutput(path: Path, conf: Configuration, ifAbsent: Boolean) extends OutputFile {
  import StoreOutput._

  private val files = path.getFileSystem(conf)
  private val inner = HadoopOutputFile.fromPath(path, conf)

  override def create(blockSizeHint: Long): PositionOutputStream = create(overwrite = false, blockSizeHint)

  override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream =
    create(overwrite = true, blockSizeHint)

  override def supportsBlockSize: Boolean = inner.supportsBlockSize

  override def defaultBlockSize: Long = inner.defaultBlockSize

  override def getPath: String = path.toString

  private def create(overwrite: Boolean, blockSizeHint: Long): PositionOutputStream = {
    val blockSize = math.max(files.getDefaultBlockSize(path), blockSizeHint)
    new AbortableStream(
      if (files.hasPathCapability(path, NoProbes)) put()
      else files.create(path, overwrite, BufferBytes, files.getDefaultReplication(path), blockSize)
    )
  }

  /** In one request. By default the store is first asked twice whether there is a file, or a directory, of the name. */
  private def put(): FSDataOutputStream =
    files.createFile(path)
      .create()
      .recursive()
      .overwrite(!ifAbsent)
      .opt(NoProbes, true)
      .opt(PutIfAbsent, ifAbsent && OutputFiles.refuseToReplace(path, conf))
      .build()
}

private object StoreOutput {
  val BufferBytes = 4096

  /** Of S3A, since Hadoop 3.3.5. */
  val NoProbes = "fs.s3a.create.performance"

  /** Since Hadoop 3.4.2. */
  val PutIfAbsent = "fs.option.create.conditional.overwrite"
}

private final class AbortableStream(stream: FSDataOutputStream)
    extends DelegatingPositionOutputStream(stream)
    with Abortable {

  override def getPos: Long = stream.getPos

  override def abort(): Abortable.AbortableResult = stream.abort()
}

/** Writes what Hadoop's local file system writes: the file, its checksums beside it, and their permissions. */
private final class LocalOutput(path: Path, conf: Configuration) extends OutputFile {

  override def create(blockSizeHint: Long): PositionOutputStream = create(overwrite = false)

  override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream = create(overwrite = true)

  override def supportsBlockSize: Boolean = false

  override def defaultBlockSize: Long = path.getFileSystem(conf).getDefaultBlockSize(path)

  override def getPath: String = path.toString

  private def create(overwrite: Boolean): PositionOutputStream = {
    val files = new LocalFileSystem(new PosixFileSystem)
    files.setConf(conf)
    files.initialize(FsConstants.LOCAL_FS_URI, conf)
    HadoopStreams.wrap(files.create(path, overwrite))
  }
}

/**
 * The local file system, with permissions set by Java. Hadoop without its native code runs `chmod` for each file that
 * it creates, which takes longer than a small file does.
 */
private final class PosixFileSystem extends RawLocalFileSystem {

  override def setPermission(path: Path, permission: FsPermission): Unit =
    if (permission.getStickyBit) super.setPermission(path, permission)
    else {
      Files.setPosixFilePermissions(
        pathToFile(path).toPath,
        PosixFilePermissions.fromString(permission.toString)
      )
      ()
    }
}
