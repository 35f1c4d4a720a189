import scala.io.Source
import scala.util.Using

val sparkVersion = "4.2.0"
val deltaVersion = "4.4.0"

// The version lives in the Python package, the one file that both builds can read without the other.
val upkeepVersion = Using.resource(Source.fromFile("python/delta_upkeep/version.py")) { source =>
  """__version__ = "([^"]+)"""".r.findFirstMatchIn(source.mkString).get.group(1)
}

val testProcesses = 2

Global / concurrentRestrictions := Seq(
  Tags.limitAll(testProcesses),
  Tags.limit(Tags.ForkedTestGroup, testProcesses),
  Tags.exclusiveGroup(Tags.Clean)
)

// What Spark's own launcher passes to a JVM of version 17 or newer.
val javaModuleOptions = Seq(
  "java.lang",
  "java.lang.invoke",
  "java.lang.reflect",
  "java.io",
  "java.net",
  "java.nio",
  "java.util",
  "java.util.concurrent",
  "java.util.concurrent.atomic",
  "sun.nio.ch",
  "sun.nio.cs",
  "sun.security.action",
  "sun.util.calendar"
).map(module => s"--add-opens=java.base/$module=ALL-UNNAMED")

lazy val upkeep = (project in file("scala"))
  .enablePlugins(Antlr4Plugin)
  .settings(
    name := "delta-upkeep",
    organization := "io.deltaupkeep",
    version := upkeepVersion,
    scalaVersion := "2.13.18",
    description := "Table maintenance for Delta Lake on Spark: OPTIMIZE, CHECKPOINT, CLEANUP LOG, DESCRIBE HEALTH, MAINTAIN",
    licenses := Seq(License.Apache2),
    scalacOptions ++= Seq("-deprecation", "-feature", "-unchecked", "-Xlint:_,-byname-implicit", "-Werror", "-release:17"),
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % sparkVersion % Provided,
      "io.delta" % "delta-spark_4.2_2.13" % deltaVersion,
      "org.scalatest" %% "scalatest" % "3.2.19" % Test,
      "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
    ),
    Compile / unmanagedSourceDirectories ++= Seq("delta-4.1-4.4", "delta-4.4").map(baseDirectory.value / "src" / "main" / _),
    Antlr4 / antlr4Version := "4.13.1",
    Antlr4 / antlr4PackageName := Some("io.deltaupkeep.sql.parser"),
    Antlr4 / antlr4GenVisitor := true,
    Antlr4 / antlr4GenListener := false,
    // Spark brings the ANTLR runtime at run time.
    libraryDependencies := libraryDependencies.value.map {
      case m if m.name == "antlr4-runtime" => m.withConfigurations(Some("provided"))
      case m => m
    },
    // Spark puts the jars of --packages on Python's path too.
    Compile / packageBin / mappings ++= {
      val python = (LocalRootProject / baseDirectory).value / "python"
      ((python / "delta_upkeep") ** ("*.py" || "*.css")).get().pair(Path.relativeTo(python))
    },
    Compile / doc / scalacOptions -= "-Werror",
    Test / fork := true,
    // Two JVMs, each with a session of Spark that its suites take in turns. They are dealt by name, but for the two that
    // take a third of the time: one for each.
    Test / parallelExecution := true,
    Test / testForkedParallel := false,
    Test / testGrouping := {
      val options = (Test / forkOptions).value
      val longest = Seq("CheckpointContentsSuite", "IncrementalCheckpointSuite")
      val (first, others) = (Test / definedTests).value.sortBy(_.name).partition(suite => longest.exists(suite.name.endsWith))
      val suites = (first ++ others).zipWithIndex
      (0 until testProcesses).map { process =>
        val own = suites.collect { case (suite, i) if i % testProcesses == process => suite }
        Tests.Group(s"process $process", own, Tests.SubProcess(options))
      }
    },
    // Short tests gain nothing from code that takes long to compile, nor from a collector with threads. The 48 MiB of
    // compiled code that this compiler may keep are too few: it would be swept out and compiled again. All memory is
    // collected whenever more classes are loaded than the JVM expects.
    Test / javaOptions ++= javaModuleOptions ++ Seq(
      "-XX:TieredStopAtLevel=1",
      "-XX:ReservedCodeCacheSize=256m",
      "-XX:+UseSerialGC",
      "-XX:MetaspaceSize=256m",
      "-Xmn600m",
      "-Xmx2g",
      s"-Dlog4j2.configurationFile=${(LocalRootProject / baseDirectory).value / "conf" / "log4j2.properties"}"
    ),
    // How many random cases suites try, and from which seed on: `-DdeltaUpkeep.fuzz=100000`.
    Test / javaOptions ++= sys.props.toSeq.collect {
      case (key, value) if key.startsWith("deltaUpkeep.") => s"-D$key=$value"
    },
    Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oD"),
    // A Maven-layout repository in the build directory: what `--packages` resolves in the tests.
    publishTo := Some("staging" at (baseDirectory.value / "target" / "repository").toURI.toString),
    publishMavenStyle := true,
    publishConfiguration := publishConfiguration.value.withOverwrite(true)
  )

lazy val root = (project in file("."))
  .aggregate(upkeep)
  .settings(publish / skip := true)
