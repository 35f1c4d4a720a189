package io.deltaupkeep

import scala.util.Properties

/** Compares what this artifact was built for with what it runs on. */
object PlatformCheck {

  private val Line = """(\d+\.\d+)(\D.*)?""".r

  /** The first two numbers of a version; None if it has none. */
  private def lineOf(version: String): Option[String] = version match {
    case Line(line, _) => Some(line)
    case _ => None
  }

  /** Why this artifact cannot run on a Spark, or None. */
  def wrongSpark(version: String): Option[String] =
    Option.when(!lineOf(version).contains(Platform.spark))(
      s"$served; this session runs Spark $version. ${fix(version)}"
    )

  /** Why it cannot run with a Delta of this version, or None. A version that cannot be parsed may be right. */
  def wrongDelta(version: String): Option[String] =
    Option.when(lineOf(version).exists(!Platform.deltas.contains(_)))(unknownDelta(version))

  def unknownDelta(version: String): String = s"$served; this session uses Delta $version."

  /** What to do if Spark and Delta do not match. */
  def fix(sparkVersion: String): String = lineOf(sparkVersion) match {
    case Some(Platform.spark) =>
      "Use one of these versions of Delta Lake, or another version of Delta Upkeep."
    case Some(line) if Platform.lines.contains(line) =>
      s"Use io.deltaupkeep:delta-upkeep_${line}_${Properties.versionNumberString.split('.').take(2).mkString(".")}."
    case _ => s"Use Spark ${Platform.lines.mkString(", ")}."
  }

  private def served: String =
    s"${Platform.artifact} supports Spark ${Platform.spark} with Delta ${Platform.deltas.mkString(", ")}"
}
