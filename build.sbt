import scala.io.Source
import scala.util.Using

// What both builds say lives in the Python project: sbt can read its files, and Python's build cannot read this one.
def said(file: String, key: String): String = Using.resource(Source.fromFile(s"python/$file")) { source =>
  s"""(?m)^$key = "([^"]+)"$$""".r.findFirstMatchIn(source.mkString).get.group(1)
}

val upkeepVersion = said("delta_upkeep/version.py", "__version__")
val home = said("pyproject.toml", "Homepage")

val testProcesses = 2

// The newest Spark and the oldest have all suites.
val projectsInTurns = Set("upkeep", "upkeep-3_5-2_12-delta-3_2")

Global / concurrentRestrictions := Seq(
  Tags.limitAll(testProcesses),
  Tags.limit(Tags.ForkedTestGroup, testProcesses),
  Tags.exclusiveGroup(Tags.Clean)
)

// What Spark's own launcher passes to Java 17 or newer.
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

def scalacFlags(platform: Platform) =
  Seq("-deprecation", "-feature", "-unchecked", "-release", platform.java) ++
    // The 2.12 compiler warns about code that the 2.13 compiler accepts.
    (if (platform.binary == "2.13") Seq("-Xlint:_,-byname-implicit", "-Werror") else Nil)

/**
 * Scala 2.12 lacks parts of the library. Copies of the sources import them on the package line, so that errors keep
 * their line numbers. And in 2.12 `toSeq` may return a lazy sequence or the same mutable collection; `toVector` gives
 * what 2.13 does.
 */
def imported(config: Configuration) = config / unmanagedSources := {
  val to = (config / sourceManaged).value / "imported"
  val roots = (config / unmanagedSourceDirectories).value
  (config / unmanagedSources).value.map { source =>
    if (!source.getName.endsWith(".scala")) source
    else {
      val root = roots.filter(IO.relativize(_, source).nonEmpty).maxBy(_.getPath.length)
      val copy = to / root.getName / IO.relativize(root, source).get
      val text = IO
        .read(source)
        .replaceFirst(
          "(?m)^(package [\\w.]+)$",
          "$1; import scala.collection.compat._, io.deltaupkeep.LibraryOf213._"
        )
        .replaceAll("\\.toSeq\\b(?!\\()", ".toVector")
      if (!copy.exists || IO.read(copy) != text) IO.write(copy, text)
      copy
    }
  }
}

def scalaRoots(platform: Platform): Seq[String] =
  if (platform.binary == "2.13") Nil else Seq(s"scala-${platform.binary}")

def importedIn212(platform: Platform) =
  if (platform.binary == "2.13") Nil else Seq(imported(Compile), imported(Test))

lazy val testing = Seq(
  libraryDependencies ++= Seq(
    "org.scalatest" %% "scalatest" % "3.2.19" % Test,
    "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
  ),
  Test / fork := true,
  // The tests of every line run here.
  Test / baseDirectory := (LocalRootProject / baseDirectory).value / "scala",
  // Two JVMs, each with one Spark session that its suites use in turn.
  Test / parallelExecution := true,
  Test / testForkedParallel := false,
  Test / testGrouping := {
    val options = (Test / forkOptions).value
    val measured = (LocalRootProject / baseDirectory).value / "project" / "suite-times.txt"
    val times = new SuiteTimes(measured)
    val all = (Test / definedTests).value
    // The other lines of Spark have few suites, and run them all.
    val turn = sys.env.get("TEST_TURN").filter(_ => projectsInTurns(thisProject.value.id))
    val suites = turn.fold(all)(turn => times.inTurn(all, turn.toInt))
    times.deal(suites, testProcesses).zipWithIndex.map { case (suites, process) =>
      Tests.Group(s"process $process", suites, Tests.SubProcess(options))
    }
  },
  // Short tests gain nothing from the optimizing compiler or a parallel collector. The default code cache of 48 MiB is
  // too small for this compiler: code would be swept out and compiled again. And the JVM runs a full collection
  // whenever the loaded classes outgrow the metaspace that it expects.
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
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oD")
)

/** A Maven-layout repository in the build directory: what `--packages` resolves in the tests. */
lazy val published = Seq(
  organization := "io.deltaupkeep",
  organizationName := "Delta Upkeep",
  version := upkeepVersion,
  versionScheme := Some("early-semver"),
  description := said("pyproject.toml", "description"),
  homepage := Some(url(home)),
  licenses := Seq(License.Apache2),
  // There is no address that all of them read.
  developers := List(Developer("delta-upkeep", "The authors of Delta Upkeep", "", url(home))),
  scmInfo := Some(ScmInfo(url(home), s"scm:git:$home.git", s"scm:git:$home.git")),
  publishTo := Some(
    "staging" at ((LocalRootProject / baseDirectory).value / "scala" / "target" / "repository").toURI.toString
  ),
  publishMavenStyle := true,
  publishConfiguration := publishConfiguration.value.withOverwrite(true)
)

/** Where the Apache Software Foundation and Maven Central expect them in a jar. */
def licenseTexts = Def.setting {
  Seq("LICENSE", "NOTICE").map(name => (LocalRootProject / baseDirectory).value / name -> s"META-INF/$name")
}

def dependencies(platform: Platform) = Seq(
  "org.apache.spark" %% "spark-sql" % platform.spark % Provided,
  "io.delta" % platform.newest.artifact % platform.newest.version
)

def sources(roots: Seq[String]) = Def.setting {
  roots.map((LocalRootProject / baseDirectory).value / "scala" / "src" / "main" / _)
}

/** The implementation of DeltaApi for older Deltas of a line. It goes into the line's jar. */
def older(platform: Platform, delta: Delta): Project = {
  val line = LocalProject(platform.id)
  Project(platform.idOf(delta), file(s"scala/target/${platform.idOf(delta)}")).settings(
    scalaVersion := platform.scala,
    csrSameVersions := Nil,
    scalacOptions ++= scalacFlags(platform),
    // Spark brings its own, even if Delta was built with a newer one.
    dependencyOverrides += "org.scala-lang" % "scala-library" % platform.scala,
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % platform.spark % Provided,
      "io.delta" % delta.artifact % delta.version % Provided
    ),
    target := baseDirectory.value,
    Compile / unmanagedSourceDirectories := sources(delta.roots).value,
    Compile / unmanagedClasspath ++= (line / Compile / products).value.map(Attributed.blank),
    // The tests of the line, compiled against its newest Delta.
    Test / definedTests := (line / Test / definedTests).value,
    Test / fullClasspath := {
      val ours = (line / Test / products).value ++ (line / Compile / products).value
      ours.map(Attributed.blank) ++ (Test / fullClasspath).value
    },
    publish / skip := true
  ).settings(testing).settings(importedIn212(platform))
}

def upkeepFor(platform: Platform, project: Project): Project = project
  .enablePlugins(Antlr4Plugin)
  .settings(testing)
  .settings(
    name := "delta-upkeep",
    scalaVersion := platform.scala,
    csrSameVersions := Nil,
    scalacOptions ++= scalacFlags(platform),
    Compile / compile / javacOptions ++= Seq("--release", platform.java),
    // Spark brings its own, even if Delta was built with a newer one.
    dependencyOverrides += "org.scala-lang" % "scala-library" % platform.scala,
    libraryDependencies ++= dependencies(platform),
    sourceDirectory := (LocalRootProject / baseDirectory).value / "scala" / "src",
    Compile / unmanagedSourceDirectories :=
      sources(Seq("core", "delta") ++ scalaRoots(platform) ++ platform.roots ++ platform.newest.roots).value,
    // Every platform has to pass the suites of the last one.
    Test / unmanagedSourceDirectories :=
      Seq("core", "delta", "java", "contract").map(sourceDirectory.value / "test" / _),
    Compile / sourceGenerators += Def.task {
      val file = (Compile / sourceManaged).value / "Platform.scala"
      IO.write(file, platform.source)
      Seq(file)
    },
    Antlr4 / antlr4Version := platform.antlr,
    Antlr4 / antlr4PackageName := Some("io.deltaupkeep.sql.parser"),
    Antlr4 / antlr4GenVisitor := true,
    Antlr4 / antlr4GenListener := false,
    // Spark brings the ANTLR runtime at run time.
    libraryDependencies := libraryDependencies.value.map {
      case m if m.name == "antlr4-runtime" => m.withConfigurations(Some("provided"))
      case m => m
    },
    Compile / packageBin / mappings ++= platform.older
      .map(delta => LocalProject(platform.idOf(delta)) / Compile / products)
      .join.value.flatten.flatMap(Path.allSubpaths),
    // Spark puts the jars of --packages on Python's path too.
    Compile / packageBin / mappings ++= {
      val python = (LocalRootProject / baseDirectory).value / "python"
      ((python / "delta_upkeep") ** ("*.py" || "*.css")).get().pair(Path.relativeTo(python))
    },
    Seq(packageBin, packageSrc, packageDoc).map(Compile / _ / mappings ++= licenseTexts.value),
    Compile / doc / scalacOptions -= "-Werror"
  )
  .settings(published)
  .settings(importedIn212(platform))

lazy val upkeep = upkeepFor(Platform.Spark42, project in file("scala")).settings(publish / skip := true)

def lineOf(platform: Platform): Project =
  upkeepFor(platform, Project(platform.id, file(s"scala/target/${platform.name}")))
    .settings(
      name := platform.title,
      moduleName := s"delta-upkeep_${platform.line}",
      csrSameVersions := Nil,
      target := baseDirectory.value,
      // All lines share one API.
      Compile / packageDoc / mappings := (upkeep / Compile / packageDoc / mappings).value
    )

/** The artifact of Spark 4.2: what the project upkeep builds, named like the other lines. */
lazy val spark42 = Project(Platform.Spark42.id, file(s"scala/target/${Platform.Spark42.name}"))
  .settings(published)
  .settings(
    name := Platform.Spark42.title,
    moduleName := s"delta-upkeep_${Platform.Spark42.line}",
    scalaVersion := Platform.Spark42.scala,
    target := baseDirectory.value,
    libraryDependencies ++= dependencies(Platform.Spark42),
    libraryDependencies ++= (upkeep / libraryDependencies).value.filter(_.name == "antlr4-runtime"),
    Compile / packageBin / mappings := (upkeep / Compile / packageBin / mappings).value,
    Compile / packageSrc / mappings := (upkeep / Compile / packageSrc / mappings).value,
    Compile / packageDoc / mappings := (upkeep / Compile / packageDoc / mappings).value
  )

lazy val spark41 = lineOf(Platform.Spark41)
lazy val spark41Delta41 = older(Platform.Spark41, Platform.Spark41.older(0))

lazy val spark40 = lineOf(Platform.Spark40)
lazy val spark40Delta41 = older(Platform.Spark40, Platform.Spark40.older(0))
lazy val spark40Delta40 = older(Platform.Spark40, Platform.Spark40.older(1))

def lineOf35(platform: Platform): Project = lineOf(platform).settings(
  // The other suites write their inputs with a newer parquet-java.
  Test / unmanagedSourceDirectories := Seq(sourceDirectory.value / "test" / "contract")
)

lazy val spark35 = lineOf35(Platform.Spark35)
lazy val spark35Delta32 = older(Platform.Spark35, Platform.Spark35.older(0))

lazy val spark35Scala212 = lineOf35(Platform.Spark35Scala212)
lazy val spark35Scala212Delta32 = older(Platform.Spark35Scala212, Platform.Spark35Scala212.older(0))

lazy val lines = project
  .in(file("scala/target/lines"))
  .aggregate(spark42, spark41, spark40, spark35, spark35Scala212)
  .settings(publish / skip := true)

lazy val root = (project in file("."))
  .aggregate(
    upkeep,
    spark41,
    spark41Delta41,
    spark40,
    spark40Delta41,
    spark40Delta40,
    // The Scala 2.12 projects compile copies of the sources of these.
    spark35,
    spark35Delta32
  )
  .settings(publish / skip := true)
