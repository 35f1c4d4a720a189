import sbt._

/** How long suites take, as recorded by `make suite-times`. */
final class SuiteTimes(measured: File) {

  private val seconds: Map[String, Long] =
    IO.readLines(measured).map(_.split(' ')).map { case Array(time, name) => name -> time.toLong }.toMap

  private def secondsOf(suite: TestDefinition): Long = seconds.getOrElse(suite.name, SuiteTimes.OtherSeconds)

  private def longestFirst(suites: Seq[TestDefinition]): Seq[TestDefinition] =
    suites.sortBy(suite => (-secondsOf(suite), suite.name))

  /** Deals suites to processes, longest first, each to the process with the least work. */
  def deal(suites: Seq[TestDefinition], processes: Int): Seq[Seq[TestDefinition]] =
    longestFirst(suites).foldLeft(Vector.fill(processes)(Vector.empty[TestDefinition])) { (dealt, suite) =>
      val least = dealt.indices.minBy(dealt(_).map(secondsOf).sum)
      dealt.updated(least, dealt(least) :+ suite)
    }

  /** Leaves out the long suites whose turn it is not, as pytest does with tests. */
  def inTurn(suites: Seq[TestDefinition], turn: Int): Seq[TestDefinition] = {
    val (long, short) = suites.partition(secondsOf(_) >= SuiteTimes.LongSeconds)
    short ++ longestFirst(long).zipWithIndex.collect {
      case (suite, place) if place % SuiteTimes.Turns == turn % SuiteTimes.Turns => suite
    }
  }
}

object SuiteTimes {

  /** For a suite that is short or new. */
  private val OtherSeconds = 1L
  private val LongSeconds = 10L
  private val Turns = 5
}
