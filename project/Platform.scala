/**
 * A line of Spark that one artifact serves.
 *
 * @param line   first two numbers of Spark's version
 * @param spark  the version that the artifact is compiled against
 * @param scala  the version that it is compiled with
 * @param java   the oldest that it runs on
 * @param antlr  version that generates the parser; Spark brings the same one at run time
 * @param roots  source roots of what differs between lines of Spark
 * @param newest the newest Delta of the line: what the artifact is compiled against, and depends on
 * @param older  older Deltas that the artifact serves too
 */
final case class Platform(
    line: String,
    spark: String,
    scala: String,
    java: String,
    antlr: String,
    roots: Seq[String],
    newest: Delta,
    older: Seq[Delta]
) {

  /** First two numbers of Scala's version. */
  def binary: String = scala.split('.').take(2).mkString(".")

  /** As in artifact names. */
  def name: String = s"${line}_$binary"

  /** Name of the artifact, for people. */
  def title: String = s"Delta Upkeep for Spark $line and Scala $binary"

  /** Id of the sbt project. */
  def id: String = s"upkeep-$line${if (binary == "2.13") "" else s"-$binary"}".replace('.', '_')

  def idOf(older: Delta): String = s"$id-delta-${older.lines.head}".replace('.', '_')

  /** Source that tells the code what it was built for. */
  def source: String =
    s"""package io.deltaupkeep
       |
       |/** What this artifact was made for. */
       |private[deltaupkeep] object Platform {
       |  val artifact: String = "delta-upkeep_$name"
       |
       |  /** First two numbers of Spark's version. */
       |  val spark: String = "$line"
       |
       |  /** Of every artifact. */
       |  val lines: Seq[String] = Seq(${text(Platform.lines)})
       |
       |  /** First two numbers of the versions of Delta. */
       |  val deltas: Seq[String] = Seq(${text(deltas.sorted)})
       |}
       |""".stripMargin

  private def text(names: Seq[String]): String = names.map(name => "\"" + name + "\"").mkString(", ")

  private def deltas: Seq[String] = (newest +: older).flatMap(_.lines)
}

/**
 * Versions of Delta that share one implementation of DeltaApi.
 *
 * @param artifact with the version of Scala
 * @param version  the version that the implementation is compiled against
 * @param lines    first two numbers of the versions that it serves
 * @param roots    source roots of the implementation
 */
final case class Delta(artifact: String, version: String, lines: Seq[String], roots: Seq[String])

object Platform {

  private def delta44(spark: String) =
    Delta(
      s"delta-spark_${spark}_2.13",
      "4.4.0",
      Seq("4.4"),
      Seq("delta-3.3-4.4", "delta-4.1-4.4", "delta-4.4")
    )

  private def delta41(spark: String) =
    Delta(s"delta-spark_${spark}_2.13", "4.1.0", Seq("4.1", "4.2", "4.3"), Seq("delta-4.1-4.3"))

  private val delta40 =
    Delta("delta-spark_2.13", "4.0.0", Seq("4.0"), Seq("delta-3.2-4.0", "delta-3.3-4.0", "delta-4.0"))

  def lines: Seq[String] = Seq(Spark35, Spark40, Spark41, Spark42).map(_.line)

  val Spark42: Platform = Platform(
    "4.2",
    "4.2.0",
    "2.13.18",
    "17",
    "4.13.1",
    Seq("spark-4.0-4.2", "spark-4.1-4.2"),
    delta44("4.2"),
    Nil
  )

  val Spark41: Platform =
    Platform(
      "4.1",
      "4.1.1",
      "2.13.17",
      "17",
      "4.13.1",
      Seq("spark-4.0-4.2", "spark-4.1-4.2"),
      delta44("4.1"),
      Seq(delta41("4.1"))
    )

  private def spark35(scala: String) = {
    val artifact = s"delta-spark_${scala.take(4)}"
    Platform(
      "3.5",
      "3.5.6",
      scala,
      "11",
      "4.9.3",
      Seq("spark-3.5") ++ (if (scala.startsWith("2.12")) Seq("scala-2.12") else Nil),
      Delta(
        artifact,
        "3.3.2",
        Seq("3.3"),
        Seq("delta-3.3-4.4", "delta-3.2-4.0", "delta-3.3-4.0", "delta-3.2-3.3")
      ),
      Seq(Delta(artifact, "3.2.1", Seq("3.2"), Seq("delta-3.2")))
    )
  }

  val Spark35: Platform = spark35("2.13.8")

  val Spark35Scala212: Platform = spark35("2.12.18")

  val Spark40: Platform =
    Platform(
      "4.0",
      "4.0.1",
      "2.13.16",
      "17",
      "4.13.1",
      Seq("spark-4.0-4.2", "spark-4.0"),
      delta44("4.0"),
      Seq(delta41("4.0"), delta40)
    )
}
