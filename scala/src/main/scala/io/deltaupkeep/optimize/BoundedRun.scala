package io.deltaupkeep.optimize

/** What one run may still rewrite. */
private[optimize] final case class Room(files: Long, bytes: Long) {
  def holds(bin: Bin): Boolean = bin.files.size <= files && bin.sizeInBytes <= bytes
  def without(bin: Bin): Room = Room(files - bin.files.size, bytes - bin.sizeInBytes)
}

/** Keeps a plan within `maxFiles` and `maxBytes`: bins are taken in order, and one that does not fit is passed. */
private[optimize] object BoundedRun {

  def of(plan: OptimizePlan, settings: OptimizeSettings): OptimizePlan = {
    val room = Room(settings.maxFiles.getOrElse(Long.MaxValue), settings.maxBytes.getOrElse(Long.MaxValue))
    val ordered = inOrder(plan.bins, settings.order)
    val (taken, _) = ordered.foldLeft((Vector.empty[Bin], room)) {
      case ((bins, left), bin) if left.holds(bin) => (bins :+ bin, left.without(bin))
      case (passed, _) => passed
    }
    // Where every bin is too large, a part of one is done, so that run after run gets on.
    val now = if (taken.nonEmpty) taken else ordered.flatMap(partOf(plan.layout, _, room)).take(1)
    val done = now.iterator.flatMap(_.files).map(_.id).toSet
    val rest = plan.bins.map(bin => bin.copy(files = bin.files.filterNot(file => done(file.id))))
    plan.copy(bins = plan.largestFirst(now), deferred = rest.filter(_.files.nonEmpty))
  }

  /** The first files of a bin that fit, if there are two; to order only some rows of a partition is no use. */
  private def partOf(layout: Layout, bin: Bin, room: Room): Option[Bin] =
    if (layout != Layout.Compact) None
    else {
      val sizes = bin.files.iterator.map(_.sizeInBytes).scanLeft(0L)(_ + _).drop(1)
      val count =
        sizes.zipWithIndex.takeWhile { case (bytes, i) => bytes <= room.bytes && i < room.files }.size
      Option.when(count >= 2)(bin.copy(files = bin.files.take(count)))
    }

  private def inOrder(bins: Seq[Bin], order: BinOrder): Seq[Bin] = order match {
    case BinOrder.Gain => bins.sortBy(bin => -bin.files.size.toDouble / math.max(1L, bin.sizeInBytes))
    case BinOrder.Largest => bins.sortBy(-_.sizeInBytes)
    case BinOrder.Smallest => bins.sortBy(_.sizeInBytes)
    case BinOrder.Oldest => bins.sortBy(_.files.iterator.map(_.modificationTime).min)
    case BinOrder.Newest => bins.sortBy(-_.files.iterator.map(_.modificationTime).max)
  }
}
