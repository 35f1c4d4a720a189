package io.deltaupkeep.store

import java.net.URI
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission

/**
 * The local file system, which starts no processes. Hadoop without its native code runs `chmod` for each file that it
 * creates, and `readlink` twice for each that it renames: `readlink file:/path`, which never finds a link. It
 * needs nothing of the project, whose jar another class loader may hold.
 */
class ForklessRawFileSystem extends RawLocalFileSystem {

  override def setPermission(path: Path, permission: FsPermission): Unit =
    if (permission.getStickyBit) super.setPermission(path, permission)
    else {
      Files.setPosixFilePermissions(
        pathToFile(path).toPath,
        PosixFilePermissions.fromString(permission.toString)
      )
      ()
    }

  override def getFileLinkStatus(path: Path): FileStatus =
    if (Files.isSymbolicLink(pathToFile(path).toPath)) super.getFileLinkStatus(path) else getFileStatus(path)
}

/** For `fs.file.impl`. */
class ForklessFileSystem extends LocalFileSystem(new ForklessRawFileSystem)

/** For `fs.AbstractFileSystem.file.impl`: what Delta's log store and Spark's streams rename files by. */
class ForklessFs(uri: URI, conf: Configuration) extends ChecksumFs(new ForklessRawFs(uri, conf))

private class ForklessRawFs(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, new ForklessRawFileSystem, conf, "file", false)
