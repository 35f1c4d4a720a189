package io.deltaupkeep.cleanup

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class LogFileSuite extends AnyFunSuite with TableDrivenPropertyChecks {
  import LogDirectory._
  import LogFileKind._

  private val uuid = "80a083e8-7026-4e79-81be-64bd76c43a11"

  test("kind and version follow from name and place") {
    val cases = Table(
      ("directory", "name", "kind", "version"),
      (Root, "00000000000000000010.json", Commit(10), Some(10L)),
      (Root, "10.json", Commit(10), Some(10L)),
      (Root, "00000000000000000010.checkpoint.parquet", ClassicCheckpoint(10), Some(10L)),
      (
        Root,
        "00000000000000000010.checkpoint.0000000001.0000000003.parquet",
        CheckpointPart(10, 1, 3),
        Some(10L)
      ),
      (Root, s"00000000000000000010.checkpoint.$uuid.json", V2Checkpoint(10, uuid, "json"), Some(10L)),
      (Root, s"00000000000000000010.checkpoint.$uuid.parquet", V2Checkpoint(10, uuid, "parquet"), Some(10L)),
      (Root, "00000000000000000010.crc", Checksum(10), Some(10L)),
      (Root, "00000000000000000004.00000000000000000006.compacted.json", LogCompaction(4, 6), Some(6L)),
      (StagedCommits, s"00000000000000000010.$uuid.json", StagedCommit(10, uuid), Some(10L)),
      (Sidecars, s"$uuid.parquet", Sidecar, None),
      (Sidecars, s"00000000000000000008.checkpoint.0000000001.0000000001.$uuid.parquet", Sidecar, None),
      (Root, "_last_checkpoint", LastCheckpoint, None),
      (Root, s".00000000000000000010.checkpoint.parquet.$uuid.tmp", Temporary, None),
      (Sidecars, s".$uuid.parquet.$uuid.tmp", Temporary, None),
      // What stands in the wrong place, or has a number that nothing can have, is unknown.
      (Root, s"00000000000000000010.$uuid.json", Unknown, None),
      (Root, s"$uuid.parquet", Unknown, None),
      (StagedCommits, "00000000000000000010.json", Unknown, None),
      (Sidecars, "_last_checkpoint", Unknown, None),
      (Root, "99999999999999999999.json", Unknown, None),
      (Root, "00000000000000000010.checkpoint.0000000004.0000000003.parquet", Unknown, None),
      (Root, "00000000000000000010.checkpoint.0000000000.0000000003.parquet", Unknown, None),
      (Root, "README", Unknown, None),
      (Root, "", Unknown, None)
    )
    forAll(cases) { (directory, name, kind, version) =>
      val file = LogFile(directory, name, 1, 0)
      assert(file.kind == kind)
      assert(file.kind.version == version)
      assert(file.path == directory.prefix + name)
    }
  }
}
