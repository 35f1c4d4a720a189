package io.deltaupkeep.plan.checkpoint

import io.deltaupkeep.{TableFacts, Tables, UpkeepException}
import io.deltaupkeep.log.{LogDirectory, LogFile, ReplayPlace}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class CheckpointPlannerSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val classic = Tables.facts(version = 10)
  private val v2 = classic.copy(supportsV2Checkpoints = true, prefersV2Checkpoints = true)
  private val v2WithClassicPolicy = v2.copy(prefersV2Checkpoints = false)
  private val default = CheckpointRequest(None, None, None, Mode.Auto)

  private def log(names: String*): Seq[LogFile] =
    names.map(name => LogFile(LogDirectory.Root, name, 100, 0))

  private def planOf(
      table: TableFacts,
      request: CheckpointRequest,
      actions: Long = 1,
      files: Seq[LogFile] = Nil,
      pointer: Option[Long] = None,
      damage: Seq[LogFile] => Option[String] = _ => None
  ): CheckpointPlan = {
    val layout = CheckpointPlanner.layout(table, request)
    val complete = CheckpointPlanner.complete(files, table.version)
    val found = FoundCheckpoints(
      complete,
      complete.flatMap(set => damage(set).map(DamagedCheckpoint(set.map(_.name), _)))
    )
    CheckpointPlanner.existing(layout, found) match {
      case Some(existing) => CheckpointPlanner.notNeeded(layout, existing, pointer)
      case None =>
        val why = CheckpointPlanner.whyFull(layout, found).getOrElse("none")
        CheckpointPlanner.toWrite(layout, found, Left(FullFacts(why, actions, ReplayPlace.OnDriver)))
    }
  }

  test("layout, parts and format") {
    val cases = Table(
      ("table", "request", "actions", "policy", "format", "parts"),
      (classic, default, 100001L, "classic", "parquet", 1),
      (classic, default.copy(partSize = Some(50000)), 100001L, "classic", "parquet", 3),
      (classic, default.copy(partSize = Some(50000)), 100000L, "classic", "parquet", 2),
      (classic, default.copy(partSize = Some(5)), 0L, "classic", "parquet", 1),
      (v2, default, 100001L, "v2", "json", 3),
      (
        v2,
        default.copy(format = Some(TopLevelFormat.Parquet), partSize = Some(10)),
        100L,
        "v2",
        "parquet",
        10
      ),
      (v2, default.copy(policy = Some(Policy.Classic)), 100L, "classic", "parquet", 1),
      (v2WithClassicPolicy, default, 100L, "classic", "parquet", 1),
      (v2WithClassicPolicy, default.copy(policy = Some(Policy.V2)), 100L, "v2", "json", 1)
    )
    forAll(cases) { (table, request, actions, policy, format, parts) =>
      val plan = planOf(table, request, actions)
      assert((plan.policy.name, plan.layout.format.name, plan.build.parts) == ((policy, format, parts)))
      assert(!plan.isEmpty)
    }
  }

  test("what the table cannot have is refused") {
    val cases = Table(
      ("table", "request", "condition"),
      (classic, default.copy(policy = Some(Policy.V2)), "DELTA_UPKEEP.V2_CHECKPOINT_NOT_ENABLED"),
      (
        v2,
        default.copy(policy = Some(Policy.Classic), partSize = Some(5)),
        "DELTA_UPKEEP.MULTI_PART_ON_V2_TABLE"
      ),
      (classic, default.copy(format = Some(TopLevelFormat.Json)), "DELTA_UPKEEP.FORMAT_NEEDS_V2")
    )
    forAll(cases) { (table, request, condition) =>
      val e = intercept[UpkeepException](planOf(table, request))
      assert(e.getCondition == condition)
    }
  }

  test("a complete checkpoint of the version and policy makes another one unnecessary") {
    val single = "00000000000000000010.checkpoint.parquet"
    val json = "00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    val parts = Seq(
      "00000000000000000010.checkpoint.0000000001.0000000002.parquet",
      "00000000000000000010.checkpoint.0000000002.0000000002.parquet"
    )
    val cases = Table(
      ("table", "files", "unnecessary"),
      (classic, log(), false),
      (classic, log(single), true),
      (classic, log(single).map(_.copy(sizeInBytes = 0)), false),
      (classic, log(parts: _*), true),
      (classic, log(parts.head), false),
      (classic, log("00000000000000000009.checkpoint.parquet"), false),
      (v2, log(json), true),
      (v2, log(single), false),
      (v2WithClassicPolicy, log(json), false)
    )
    forAll(cases) { (table, files, unnecessary) =>
      assert(planOf(table, default, files = files).isEmpty == unnecessary)
    }
  }

  test("damaged checkpoints of the version are replaced, whatever their policy and the mode") {
    val single = "00000000000000000010.checkpoint.parquet"
    val json = "00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    val parts = (1 to 2).map(part => f"00000000000000000010.checkpoint.$part%010d.0000000002.parquet")
    val cases = Table(
      ("table", "files", "damaged", "goes"),
      (classic, Seq(single), single, Seq(Seq(single))),
      (classic, parts, parts.last, Seq(parts)),
      (classic, single +: parts, parts.head, Seq(parts)),
      (v2, Seq(json), json, Seq(Seq(json))),
      (v2, Seq(single, json), single, Seq(Seq(single))),
      (v2WithClassicPolicy, Seq(single, json), json, Seq(Seq(json)))
    )
    forAll(cases) { (table, files, damaged, goes) =>
      for (mode <- Seq(Mode.Auto, Mode.Full)) {
        def damage(of: Seq[LogFile]) = Option.when(of.exists(_.name == damaged))("cut off")
        val plan = planOf(table, default.copy(mode = mode), files = log(files: _*), damage = damage)
        assert(!plan.isEmpty && plan.build.mode == "full")
        assert(plan.damaged == goes.map(DamagedCheckpoint(_, "cut off")))
        assert(plan.reason.contains("damaged and is replaced: cut off"))
      }
    }
  }

  test("what is there is to be named by the pointer") {
    val there = log("00000000000000000010.checkpoint.parquet")
    val cases = Table(
      ("files", "pointer", "mends"),
      (there, None, true),
      (there, Some(9L), true),
      (there, Some(10L), false),
      (there, Some(11L), false),
      (log(), None, false)
    )
    forAll(cases) { (files, pointer, mends) =>
      val plan = planOf(classic, default, files = files, pointer = pointer)
      assert(plan.mendsPointer == mends && plan.reason.contains("_last_checkpoint") == mends)
    }
  }
}
