package io.deltaupkeep.log

/** Where a log is replayed, and why there. */
sealed abstract class ReplayPlace {
  def reason: String
}

object ReplayPlace {

  /** On the driver. */
  case object OnDriver extends ReplayPlace {
    override def reason: String = "on the driver"
  }

  /** By a Spark job that sorts. */
  final case class AsJob(why: String) extends ReplayPlace {
    override def reason: String = s"by a Spark job: $why"
  }
}
