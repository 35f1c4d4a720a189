package io.deltaupkeep.store

import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.atomic.AtomicReference

import scala.jdk.CollectionConverters._

import jdk.jfr.Recording
import jdk.jfr.consumer.RecordingFile
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{ChecksumException, FileAlreadyExistsException, LocalFileSystem, Path}
import org.apache.parquet.hadoop.util.HadoopOutputFile
import org.apache.parquet.io.OutputFile
import org.scalatest.funsuite.AnyFunSuite

class OutputFilesSuite extends AnyFunSuite {

  private val directory = Files.createTempDirectory("output-files")

  private def conf(impl: Class[_] = classOf[LocalFileSystem], umask: String = "022") = {
    val conf = new Configuration(false)
    conf.set("fs.file.impl", impl.getName)
    conf.setBoolean("fs.file.impl.disable.cache", true)
    conf.set("fs.permissions.umask-mode", umask)
    conf
  }

  private def write(to: OutputFile): Unit = {
    val stream = to.create(0)
    stream.write("some bytes".getBytes)
    assert(stream.getPos == 10)
    stream.close()
  }

  /** The file and its checksums: permissions and bytes. */
  private def written(name: String): Seq[(String, String)] = Seq(name, s".$name.crc").map { file =>
    val path = directory.resolve(file)
    (
      PosixFilePermissions.toString(Files.getPosixFilePermissions(path)),
      new String(Files.readAllBytes(path), "ISO-8859-1")
    )
  }

  private def at(name: String) = new Path(directory.resolve(name).toUri)

  Seq("022", "027", "077").foreach { umask =>
    test(s"a local file is what Hadoop would write, umask $umask") {
      write(HadoopOutputFile.fromPath(at(s"theirs-$umask"), conf(umask = umask)))
      write(OutputFiles.of(at(s"ours-$umask"), conf(umask = umask)))
      assert(written(s"ours-$umask") == written(s"theirs-$umask"))
    }
  }

  test("the checksums of a local file tell of damage") {
    write(OutputFiles.of(at("damaged"), conf()))
    Files.write(directory.resolve("damaged"), "other bits".getBytes)
    val stream = at("damaged").getFileSystem(conf()).open(at("damaged"))
    intercept[ChecksumException](stream.readFully(0, new Array[Byte](10)))
    stream.close()
  }

  test("a local file is not replaced") {
    write(OutputFiles.of(at("twice"), conf()))
    intercept[FileAlreadyExistsException](write(OutputFiles.of(at("twice"), conf())))
  }

  test("a local file starts no process") {
    def started(write: => Unit): Int = {
      val recording = new Recording
      recording.enable("jdk.ProcessStart")
      recording.start()
      write
      recording.stop()
      val dump = directory.resolve("processes.jfr")
      recording.dump(dump)
      recording.close()
      RecordingFile.readAllEvents(dump).asScala.size
    }
    assume(started(write(HadoopOutputFile.fromPath(at("forks"), conf()))) > 0)
    assert(started(write(OutputFiles.of(at("no-forks"), conf()))) == 0)
  }

  test("what writes local files in its own way is not passed by") {
    write(OutputFiles.of(at("own"), conf(classOf[OwnFileSystem])))
    assert(OwnFileSystem.created.get.contains("own"))
  }
}

/** A local file system of a user. */
class OwnFileSystem extends RequestFileSystem("file") {

  override protected def request[T](kind: String, path: Path)(body: => T): T = {
    if (kind == "create") OwnFileSystem.created.set(Some(path.getName))
    body
  }
}

object OwnFileSystem {
  val created = new AtomicReference(Option.empty[String])
}
