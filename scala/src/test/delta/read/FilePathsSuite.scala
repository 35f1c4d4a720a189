package org.apache.spark.sql.delta.upkeep.read

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.util.DeltaFileOperations

class FilePathsSuite extends AnyFunSuite {

  test("paths are those of Delta, parsed or not") {
    val roots =
      Seq("file:/lake/t", "file:/lake/my table", "s3a://bucket", "s3a://bucket/", "hdfs://host:8020/t")
    val paths = Seq(
      "part-0.snappy.parquet",
      "p=1/q=a_b/part-0.parquet",
      "p=a%2520b/x%20y.parquet",
      "p=%C3%BC/a",
      "p=1//a",
      "./a",
      "../a",
      "p=1/../a",
      "p=1/",
      "s3a://other/a%20b",
      "file:///lake/t/a",
      "/lake/t/a"
    )
    for (root <- roots; path <- paths)
      assert(FilePaths.absolute(root, path) == DeltaFileOperations.absolutePath(root, path).toString)
  }
}
