package org.apache.spark.sql.delta.upkeep.table

import org.scalatest.funsuite.AnyFunSuite

class InputFailuresSuite extends AnyFunSuite {

  test("a missing file is named as a whole, whatever the store says about it") {
    val local = "file:/t/p=with space/part 1 (2).parquet"
    val remote = "s3a://lake/t/p=50%25/a.parquet"
    val said = Seq(
      s"File $local does not exist" -> local,
      s"File $local does not exist\nIt is possible the underlying files have been updated." -> local,
      s"No such file or directory: $remote" -> remote,
      s"getFileStatus on $remote: java.lang.Exception: Not Found (Service: S3, Status Code: 404)" -> remote,
      "File does not exist: hdfs://host:8020/t/a b.parquet" -> "hdfs://host:8020/t/a b.parquet",
      "Item not found: 'gs://lake/t/a b.parquet'. Note, it is possible that" -> "gs://lake/t/a b.parquet"
    )
    said.foreach { case (message, file) =>
      assert(InputFailures.locationIn(message).contains(file), message)
    }
    assert(InputFailures.locationIn("No such file or directory").isEmpty)
  }
}
