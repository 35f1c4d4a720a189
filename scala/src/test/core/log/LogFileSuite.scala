package io.deltaupkeep.log

import io.deltaupkeep.log.LogDirectory.{Root, Sidecars, StagedCommits}
import io.deltaupkeep.log.LogFileKind._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class LogFileSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val id = "80a083e8-7026-4e79-81be-64bd76c43a11"
  private val ten = "00000000000000000010"
  private val tooLarge = "9223372036854775808"

  test("a file's kind follows from its name and its directory") {
    forAll(Table(
      ("directory", "name", "kind"),
      (Root, s"$ten.json", Commit(10)),
      (Root, "00000000000000000000.json", Commit(0)),
      (Root, "9223372036854775807.json", Commit(Long.MaxValue)),
      (Root, s"$ten.checkpoint.parquet", ClassicCheckpoint(10)),
      (Root, s"$ten.checkpoint.0000000001.0000000003.parquet", CheckpointPart(10, 1, 3)),
      (Root, s"$ten.checkpoint.0000000001.0000000001.parquet", CheckpointPart(10, 1, 1)),
      (Root, s"$ten.checkpoint.$id.json", V2Checkpoint(10, id, "json")),
      (Root, s"$ten.checkpoint.$id.parquet", V2Checkpoint(10, id, "parquet")),
      (Root, s"$ten.crc", Checksum(10)),
      (Root, s"00000000000000000004.$ten.compacted.json", LogCompaction(4, 10)),
      (Root, "_last_checkpoint", LastCheckpoint),
      (Root, s".$ten.json.$id.tmp", Temporary),
      (Root, s".$ten.checkpoint.0000000001.0000000003.parquet.$id.tmp", Temporary),
      (Root, s"._last_checkpoint.$id.tmp", Temporary),
      (Sidecars, "3a0d65cd-4056-49b8-937b-95f9e3ee90e5.parquet", Sidecar),
      (Sidecars, s"$ten.checkpoint.0000000001.0000000002.$id.parquet", Sidecar),
      (Sidecars, s".$ten.checkpoint.0000000001.0000000002.$id.parquet.$id.tmp", Temporary),
      (StagedCommits, s"$ten.$id.json", StagedCommit(10, id)),
      (StagedCommits, s".$ten.$id.json.$id.tmp", Temporary)
    ))((directory, name, kind) => assert(LogFile(directory, name, 1, 0).kind == kind))
  }

  test("a version may have any number of digits, as in Delta") {
    forAll(Table(
      ("name", "kind"),
      ("10.json", Commit(10)),
      ("000000000000000000000000010.json", Commit(10)),
      ("10.checkpoint.parquet", ClassicCheckpoint(10)),
      ("10.checkpoint.1.3.parquet", CheckpointPart(10, 1, 3)),
      ("4.10.compacted.json", LogCompaction(4, 10))
    ))((name, kind) => assert(LogFile(Root, name, 1, 0).kind == kind))
  }

  test("any other name is unknown, and none is an error") {
    forAll(Table(
      ("directory", "name"),
      (Root, ""),
      (Root, "notes.txt"),
      (Root, "json"),
      (Root, "-1.json"),
      (Root, s"$ten.json.bak"),
      (Root, ".a:b.tmp"),
      (Sidecars, "a:b.parquet"),
      (Root, s"$ten.checkpoint"),
      (Root, s"$ten.checkpoint.avro"),
      (Root, s"$ten.checkpoint.$id.avro"),
      (Root, s"$ten.checkpoint.0000000000.0000000003.parquet"),
      (Root, s"$ten.checkpoint.0000000004.0000000003.parquet"),
      (Root, s"$ten.checkpoint.0000000001.2147483648.parquet"),
      (Root, s"$ten.checkpoint.a.b.parquet"),
      (Root, s"$ten.00000000000000000004.compacted.json"),
      (Root, s"$tooLarge.json"),
      (Root, s"$tooLarge.crc"),
      (Root, s"$tooLarge.checkpoint.parquet"),
      (Root, s"$tooLarge.checkpoint.$id.json"),
      (Root, s"4.$tooLarge.compacted.json"),
      (Root, s".$ten.json.crc"),
      (Root, "tmp"),
      // The right name in the wrong directory.
      (Root, s"$ten.$id.json"),
      (Root, "3a0d65cd-4056-49b8-937b-95f9e3ee90e5.parquet"),
      (Sidecars, s"$ten.json"),
      (Sidecars, s"$ten.checkpoint.$id.json"),
      (Sidecars, "_last_checkpoint"),
      (StagedCommits, s"$ten.json"),
      (StagedCommits, s"$ten.crc"),
      (StagedCommits, s"$ten.checkpoint.parquet"),
      (StagedCommits, s"$tooLarge.$id.json"),
      (StagedCommits, "_last_checkpoint"),
      (StagedCommits, "3a0d65cd-4056-49b8-937b-95f9e3ee90e5.parquet")
    ))((directory, name) => assert(LogFile(directory, name, 1, 0).kind == Unknown))
  }

  test("a kind has a name for the user and the version that it belongs to") {
    forAll(Table(
      ("kind", "name", "version"),
      (Commit(3), "commit", Some(3L)),
      (ClassicCheckpoint(3), "classic checkpoint", Some(3L)),
      (CheckpointPart(3, 1, 2), "checkpoint part", Some(3L)),
      (V2Checkpoint(3, id, "json"), "v2 checkpoint", Some(3L)),
      (Checksum(3), "checksum", Some(3L)),
      (LogCompaction(1, 3), "log compaction", Some(3L)),
      (RemovedFiles(1, 3), "removed files", None),
      (StagedCommit(3, id), "staged commit", Some(3L)),
      (Sidecar, "sidecar", None),
      (LastCheckpoint, "last checkpoint", None),
      (Temporary, "temporary file", None),
      (Unknown, "unknown", None)
    )) { (kind, name, version) =>
      assert(kind.name == name)
      assert(kind.version == version)
    }
  }

  test("a path starts below _delta_log") {
    assert(LogFile(Root, "1.json", 1, 0).path == "1.json")
    assert(LogFile(Sidecars, "x.parquet", 1, 0).path == "_sidecars/x.parquet")
    assert(LogFile(StagedCommits, "1.u.json", 1, 0).path == "_staged_commits/1.u.json")
  }
}
