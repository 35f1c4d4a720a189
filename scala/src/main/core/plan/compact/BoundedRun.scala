package io.deltaupkeep.plan.compact

import java.util.{Collections, IdentityHashMap}

/** How much one run may still rewrite. */
private[deltaupkeep] final case class Budget(files: Long, bytes: Long) {
  def holds(bin: Bin): Boolean = bin.files.size <= files && bin.sizeInBytes <= bytes
  def without(bin: Bin): Budget = Budget(files - bin.files.size, bytes - bin.sizeInBytes)
  def without(done: FileSizes): Budget = Budget(files - done.totalFiles, bytes - done.totalSize)
}

/**
 * Keeps a plan within `maxFiles` and `maxBytes`: bins are taken in order, and a bin that no longer fits is
 * left to a later run. If a bin exceeds the limits of any run, a part of it is rewritten. If nothing fits, a bin of one
 * file is rewritten nevertheless, so that every run makes progress.
 */
private[deltaupkeep] final class BoundedRun(settings: OptimizeSettings) {

  private val rules = BinRules(settings)
  private val budget =
    Budget(settings.maxFiles.getOrElse(Long.MaxValue), settings.maxBytes.getOrElse(Long.MaxValue))

  def of(plan: OptimizePlan): OptimizePlan = {
    val rest = budget.without(settings.done)
    val (fitting, _) = inOrder(plan.bins).foldLeft((Vector.empty[Bin], rest)) { case ((bins, left), bin) =>
      val now =
        if (left.holds(bin)) Some(bin)
        else if (budget.holds(bin) || !plan.layout.bySize) None
        else partOf(bin, left)
      now.fold((bins, left))(part => (bins :+ part, left.without(part)))
    }
    val isFirst = fitting.isEmpty && settings.done.totalFiles == 0
    val taken = if (isFirst) inOrder(plan.bins).find(_.files.size == 1).toVector else fitting
    plan.copy(bins = plan.largestFirst(taken), deferred = deferred(plan.bins, taken))
  }

  /** The bins that are not taken, and what is left of those of which a part is. */
  private def deferred(bins: Seq[Bin], taken: Seq[Bin]): Seq[Bin] = {
    val isWhole = identities(taken)
    bins.filterNot(isWhole) match {
      case Seq() => Nil
      case others =>
        val isTaken = identities(taken.iterator.flatMap(_.files))
        others.flatMap { bin =>
          val files = bin.files.filterNot(isTaken)
          if (files.isEmpty) None
          else Some(if (files.size == bin.files.size) bin else bin.copy(files = files))
        }
    }
  }

  /** The smallest files of a bin that fit and are worth rewriting by themselves. */
  private def partOf(bin: Bin, budget: Budget): Option[Bin] = {
    windows(bin.files.sortBy(_.sizeInBytes).toVector, budget)
      .map(rules.withoutGiants)
      .find(rules.isWorthRewriting)
      .map(part => bin.copy(files = bin.files.filter(identities(part))))
  }

  /** As many consecutive files as fit; then again from the middle of those, in linear time. */
  private def windows(files: IndexedSeq[DataFile], budget: Budget): Iterator[Seq[DataFile]] =
    Iterator.unfold(0) { first =>
      Option.when(first < files.size) {
        val window = fitting(files, first, budget)
        (window, first + math.max(1, window.size / 2))
      }
    }

  private def fitting(files: IndexedSeq[DataFile], first: Int, budget: Budget): Seq[DataFile] = {
    var bytes = 0L
    files.iterator.slice(first, files.size).zipWithIndex.takeWhile { case (file, index) =>
      bytes += file.sizeInBytes
      index < budget.files && bytes <= budget.bytes
    }.map(_._1).toSeq
  }

  private def inOrder(bins: Seq[Bin]): Seq[Bin] = settings.order match {
    case BinOrder.Gain => bins.map(bin => bin -> gainOf(bin)).sortBy(-_._2).map(_._1)
    case BinOrder.Largest => bins.sortBy(-_.sizeInBytes)
    case BinOrder.Smallest => bins.sortBy(_.sizeInBytes)
    case BinOrder.Oldest => bins.sortBy(_.files.iterator.map(_.modificationTime).min)
    case BinOrder.Newest => bins.sortBy(-_.files.iterator.map(_.modificationTime).max)
  }

  /** Files and deletion vectors that a reader no longer opens, per byte rewritten. */
  private def gainOf(bin: Bin): Double = {
    val gone = bin.files.size - 1 + bin.files.count(_.deletionVector.nonEmpty)
    gone.toDouble / math.max(1L, bin.sizeInBytes)
  }

  /** Some objects themselves: others that equal them are not among them. Looks at no field, so large objects cost nothing. */
  private def identities[T <: AnyRef](objects: IterableOnce[T]): T => Boolean = {
    val set = Collections.newSetFromMap(new IdentityHashMap[T, java.lang.Boolean])
    objects.iterator.foreach(set.add)
    set.contains(_)
  }
}
