package io.deltaupkeep

import java.nio.file.{Files, Path}

import scala.reflect.runtime.universe.TypeTag

import io.deltaupkeep.health.HealthResult
import io.deltaupkeep.maintain.MaintainResult
import io.deltaupkeep.plan.analyze.AnalyzeResult
import io.deltaupkeep.plan.checkpoint.CheckpointResult
import io.deltaupkeep.plan.cleanup.CleanupResult
import io.deltaupkeep.plan.compact.OptimizeResult
import io.deltaupkeep.plan.repair.FsckResult
import io.deltaupkeep.plan.vacuum.VacuumResult

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.types.{ArrayType, DataType, StructField, StructType}

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** The page of results has the columns of each statement, with their types. */
class ResultPageSuite extends AnyFunSuite {

  private val page = Files.readString(Path.of("../python/docs/results.md"))
  private val row = raw"\| `([\w.]+)` \| ([^|]+) \| [^|]+ \|".r

  test("OPTIMIZE") {
    val (deltas, others) = columnsOf[OptimizeResult].partition { case (name, _) =>
      name.startsWith("metrics.") && !said("OPTIMIZE").exists(_._1 == name)
    }
    assert(said("OPTIMIZE") == others)
    // What the page leaves to Delta's documentation is in Delta.
    assert(deltas.map(_._1).contains("metrics.numFilesAdded"))
    assert(deltas.map(_._1).filter(_.matches(".*(RowGroups|Meanwhile|tiers).*")).isEmpty)
  }

  test("CHECKPOINT")(assertSaid[CheckpointResult]("CHECKPOINT"))

  test("CLEANUP LOG")(assertSaid[CleanupResult]("CLEANUP LOG"))

  test("VACUUM")(assertSaid[VacuumResult]("VACUUM"))
  test("ANALYZE")(assertSaid[AnalyzeResult]("ANALYZE"))

  test("FSCK")(assertSaid[FsckResult]("FSCK"))

  test("DESCRIBE HEALTH")(assertSaid[HealthResult]("DESCRIBE HEALTH"))

  test("MAINTAIN") {
    // The results of its steps have tables of their own.
    val steps = Seq("optimize.", "checkpoint.", "cleanup.", "vacuum.")
    val own = columnsOf[MaintainResult].filterNot { case (name, _) => steps.exists(name.startsWith) }
    assert(said("MAINTAIN") == own)
  }

  private def assertSaid[R <: Product: TypeTag](statement: String): Assertion =
    assert(said(statement) == columnsOf[R])

  /** The columns and types of a section. */
  private def said(statement: String): Seq[(String, String)] = {
    val section = page.split(s"\n## $statement\n")(1).split("\n## ")(0)
    row.findAllMatchIn(section).map(found => found.group(1) -> found.group(2)).toSeq
  }

  private def columnsOf[R <: Product: TypeTag]: Seq[(String, String)] =
    Encoders.product[R].schema.flatMap(columns("", _))

  private def columns(prefix: String, field: StructField): Seq[(String, String)] = {
    val name = prefix + field.name
    val shown = name -> (typeName(field.dataType) + (if (field.nullable) "?" else ""))
    shown +: nested(field.dataType).flatMap(columns(s"$name.", _))
  }

  private def nested(of: DataType): Seq[StructField] = of match {
    case StructType(fields) => fields.toSeq
    case ArrayType(StructType(fields), _) => fields.toSeq
    case _ => Nil
  }

  private def typeName(of: DataType): String = of match {
    case _: StructType => "struct"
    case ArrayType(element, _) => s"array of ${typeName(element)}"
    case other => other.sql.toLowerCase
  }
}
