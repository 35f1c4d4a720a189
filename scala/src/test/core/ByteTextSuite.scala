package io.deltaupkeep

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

class ByteTextSuite extends AnyFunSuite {

  private val cases = Files.readAllLines(Path.of("../tests/sizes.csv")).asScala.toSeq.tail.map { line =>
    val comma = line.indexOf(',')
    (line.take(comma).toLong, line.drop(comma + 1))
  }

  test("sizes are written as the Python package writes them") {
    assert(cases.nonEmpty)
    cases.foreach { case (bytes, text) => assert(ByteText.of(bytes) == text, bytes) }
  }
}
