package io.deltaupkeep.log

/** How the state of a table is found in its log. */
sealed abstract class Replay {
  def reason: String
}

object Replay {

  /** On the driver. */
  case object OnDriver extends Replay {
    override def reason: String = "on the driver"
  }

  /** By a Spark job that sorts. */
  final case class AsJob(why: String) extends Replay {
    override def reason: String = s"by a Spark job: $why"
  }
}
