package io.deltaupkeep.log

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ListedFilesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val directories = Gen.oneOf(LogDirectory.Root, LogDirectory.Sidecars, LogDirectory.StagedCommits)

  private val names = for {
    version <- Gen.oneOf(Gen.chooseNum(0L, 30L), Gen.chooseNum(0L, Long.MaxValue))
    digits <- Gen.oneOf(f"$version%020d", version.toString, "9" * 20, f"$version%021d")
    end <- Gen.oneOf(".json", ".crc", ".checkpoint.parquet", ".u.checkpoint.json", "", ".parquet", ".u.json")
  } yield digits + end

  private val files = for {
    directory <- directories
    name <- names
    size <- Gen.chooseNum(0L, Long.MaxValue)
    time <- Gen.chooseNum(-1L, Long.MaxValue)
  } yield LogFile(directory, name, size, time)

  test("the files are those that were listed") {
    forAll(Gen.listOf(files)) { files =>
      val listed = ListedFiles.of(files.iterator)
      assert(listed.toList == files)
      assert(listed.map(_.kind) == files.map(_.kind))
    }
  }
}
