package io.deltaupkeep.checkpoint

/**
 * A sidecar of the last checkpoint.
 *
 * @param adds      file actions of active files
 * @param removes   tombstones
 * @param isTouched whether it may hold an action that a later commit replaces
 */
final case class Sidecar(name: String, sizeInBytes: Long, adds: Long, removes: Long, isTouched: Boolean) {
  def actions: Long = adds + removes
}

/**
 * The last checkpoint, as far as a new one can build on it.
 *
 * @param changes file actions of the commits since
 */
final case class Base(sidecars: Seq[Sidecar], changes: Long)

/**
 * What becomes of the sidecars of the last checkpoint (protocol, 'Sidecar files': checkpoints may share them).
 *
 * @param kept     named by the new checkpoint as they are
 * @param replaced whose actions are written again, without those that later commits replace
 */
final case class SidecarPlan(kept: Seq[Sidecar], replaced: Seq[Sidecar]) {
  def all: Seq[Sidecar] = kept ++ replaced
}

object SidecarPlan {

  /**
   * Keeps what is untouched, but for sidecars so small that they join what is written anyway: then each is
   * larger than all smaller ones together, and beside full ones their number grows with the logarithm of the
   * table.
   *
   * @param partSize actions of a sidecar at most; one that is half full is left alone
   */
  def of(base: Base, partSize: Long): SidecarPlan = {
    val (touched, untouched) = base.sidecars.partition(_.isTouched)
    val (small, full) = untouched.partition(_.actions * 2 < partSize)
    val ascending = small.sortBy(_.actions)
    // What would be written once the first 0, 1, 2, ... join.
    val written = ascending.scanLeft(base.changes + touched.map(_.actions).sum)(_ + _.actions)
    val joins = ascending.zip(written).takeWhile { case (sidecar, beside) => sidecar.actions <= beside }.size
    val (joining, apart) = ascending.splitAt(joins)
    SidecarPlan(kept = full ++ apart, replaced = touched ++ joining)
  }
}
