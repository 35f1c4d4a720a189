package io.deltaupkeep.health

import io.deltaupkeep.ByteText

/** Sizes in classes, each four times as large as the one before: under 64 KiB, to 256 KiB, ..., 1 GiB and more. */
private[health] object SizeHistogram {

  private val Bounds: IndexedSeq[Long] =
    Iterator.iterate(64L << 10)(_ * 4).takeWhile(_ <= (1L << 30)).toIndexedSeq

  private val Labels: IndexedSeq[String] = {
    val inner = Bounds.zip(Bounds.drop(1)).map { case (from, to) => s"${text(from)} to ${text(to)}" }
    s"under ${text(Bounds.head)}" +: inner :+ s"${text(Bounds.last)} and more"
  }

  /** Histograms with the same classes. Classes at both ends that are empty in all of them are left out. */
  def of(sizes: (String, Seq[Long])*): Seq[HealthDetail] = {
    val classes = sizes.map { case (series, some) => series -> some.groupBy(classOf) }
    val used = classes.flatMap(_._2.keys)
    for {
      (series, byClass) <- classes
      i <- if (used.isEmpty) Range(0, 0) else Range.inclusive(used.min, used.max)
      some = byClass.getOrElse(i, Nil)
    } yield HealthDetail(series, Labels(i), some.size.toLong, some.sum)
  }

  private def classOf(size: Long): Int = Bounds.count(_ <= size)

  private def text(bytes: Long): String = ByteText.of(bytes).replace(".0 ", " ")
}
