import sbt._

/** How long suites take, as recorded by `make suite-times`. */
object SuiteTimes {

  /** For a suite that is short or new. */
  private val OtherSeconds = 1L

  /** Deals suites to processes, longest first, each to the process with the least work. */
  def deal[A](suites: Seq[A], nameOf: A => String, processes: Int, measured: File): Seq[Seq[A]] = {
    val seconds = IO.readLines(measured).map(_.split(' ')).map { case Array(time, name) => name -> time.toLong }.toMap
    def timeOf(suite: A) = seconds.getOrElse(nameOf(suite), OtherSeconds)
    suites
      .sortBy(suite => (-timeOf(suite), nameOf(suite)))
      .foldLeft(Vector.fill(processes)(Vector.empty[A])) { (dealt, suite) =>
        val least = dealt.indices.minBy(dealt(_).map(timeOf).sum)
        dealt.updated(least, dealt(least) :+ suite)
      }
  }
}
