package io.deltaupkeep.parquet

import java.nio.file.Path

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath, RawLocalFileSystem}
import org.apache.parquet.hadoop.util.{HadoopInputFile, HadoopOutputFile}
import org.apache.parquet.io.{InputFile, OutputFile, SeekableInputStream}

/** Local files for any parquet-java: until 1.13 it knows those of Hadoop alone. They are without checksums beside them. */
object LocalFiles {

  private val conf = {
    val conf = new Configuration(false)
    conf.set("fs.file.impl", classOf[RawLocalFileSystem].getName)
    conf.setBoolean("fs.file.impl.disable.cache", true)
    conf
  }

  private def hadoop(file: Path) = new HadoopPath(file.toUri)

  /** Named as the path is written. */
  def input(file: Path): InputFile = new InputFile {
    private val same = HadoopInputFile.fromPath(hadoop(file), conf)
    override def getLength: Long = same.getLength
    override def newStream(): SeekableInputStream = same.newStream()
    override def toString: String = file.toString
  }

  def output(file: Path): OutputFile = HadoopOutputFile.fromPath(hadoop(file), conf)
}
