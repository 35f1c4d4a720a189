package io.deltaupkeep

import java.net.URI
import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._

/**
 * The local file system, which starts no processes. Hadoop without its native code also runs `readlink` twice for each
 * file that it renames: `readlink file:/path`, which never finds a link.
 */
class ForklessRawFileSystem extends PosixFileSystem {

  override def getFileLinkStatus(path: Path): FileStatus =
    if (Files.isSymbolicLink(pathToFile(path).toPath)) super.getFileLinkStatus(path) else getFileStatus(path)
}

/** For `fs.file.impl`. */
class ForklessFileSystem extends LocalFileSystem(new ForklessRawFileSystem)

/** For `fs.AbstractFileSystem.file.impl`: what Delta's log store and Spark's streams rename files by. */
class ForklessFs(uri: URI, conf: Configuration) extends ChecksumFs(new ForklessRawFs(uri, conf))

private class ForklessRawFs(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, new ForklessRawFileSystem, conf, "file", false)
