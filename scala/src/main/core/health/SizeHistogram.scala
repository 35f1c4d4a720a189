package io.deltaupkeep.health

import io.deltaupkeep.{ByteText, FileTotal}

/** Sizes in classes, each four times as large as the one before: under 64 KiB, to 256 KiB, ..., 1 GiB and more. */
final class SizeHistogram private (private val classes: IndexedSeq[FileTotal]) {
  import SizeHistogram._

  def total: FileTotal = FileTotal(classes.map(_.files).sum, classes.map(_.bytes).sum)

  def +(size: Long): SizeHistogram = changed(size)(_ + size)

  def ++(other: SizeHistogram): SizeHistogram =
    new SizeHistogram(classes.zip(other.classes).map { case (one, another) => one ++ another })

  /** Without a size that it has. */
  def -(size: Long): SizeHistogram = changed(size)(_ - size)

  private def changed(size: Long)(change: FileTotal => FileTotal): SizeHistogram = {
    val i = Bounds.count(_ <= size)
    new SizeHistogram(classes.updated(i, change(classes(i))))
  }
}

object SizeHistogram {

  private val Bounds: IndexedSeq[Long] =
    Iterator.iterate(64L << 10)(_ * 4).takeWhile(_ <= (1L << 30)).toIndexedSeq

  private val Labels: IndexedSeq[String] = {
    val inner = Bounds.zip(Bounds.drop(1)).map { case (from, to) => s"${text(from)} to ${text(to)}" }
    s"under ${text(Bounds.head)}" +: inner :+ s"${text(Bounds.last)} and more"
  }

  val empty: SizeHistogram = new SizeHistogram(Labels.map(_ => FileTotal.none))

  def of(sizes: Iterable[Long]): SizeHistogram = sizes.foldLeft(empty)(_ + _)

  /** Histograms with the same classes. Classes at both ends that are empty in all of them are left out. */
  private[health] def details(histograms: (String, SizeHistogram)*): Seq[HealthDetail] = {
    val used = Labels.indices.filter(i => histograms.exists(_._2.classes(i).files > 0))
    for {
      (series, histogram) <- histograms
      i <- if (used.isEmpty) Range(0, 0) else Range.inclusive(used.min, used.max)
      some = histogram.classes(i)
    } yield HealthDetail(series, Labels(i), some.files, some.bytes)
  }

  private def text(bytes: Long): String = ByteText.of(bytes).replace(".0 ", " ")
}
