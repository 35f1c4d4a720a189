package io.deltaupkeep.plan.checkpoint

/**
 * The unit that a new checkpoint reuses from the last one: a sidecar, or a row group of a classic checkpoint.
 *
 * @param file        name of the file
 * @param rowGroup    counted from 0; None for all of the file
 * @param sizeInBytes compressed
 * @param adds        file actions of active files
 * @param removes     tombstones
 * @param isTouched   whether it holds an action that must not stay, such as one that a later commit replaces
 * @param addBytes    total size of the active files; 0 if the fragment is not kept
 */
final case class Fragment(
    file: String,
    rowGroup: Option[Int],
    sizeInBytes: Long,
    adds: Long,
    removes: Long,
    isTouched: Boolean,
    addBytes: Long = 0
) {
  def actions: Long = adds + removes
}

/**
 * The part of the last checkpoint that a new one can build on.
 *
 * @param changes file actions of the commits since
 */
final case class Base(fragments: Seq[Fragment], changes: Long)

/**
 * Which fragments of the last checkpoint are kept, and which are replaced.
 *
 * @param kept     in the new checkpoint as they are: sidecars by name (protocol, 'Sidecar files': checkpoints
 *                 may share them), row groups byte for byte
 * @param replaced fragments whose actions are written again, without those that later commits replace
 */
final case class FragmentPlan(kept: Seq[Fragment], replaced: Seq[Fragment]) {
  def all: Seq[Fragment] = kept ++ replaced
}

object FragmentPlan {

  /**
   * Keeps untouched fragments, except those so small that they are merged into what is written anyway. Then
   * each fragment is larger than all smaller ones together, so the number of fragments that are not full
   * grows with the logarithm of the table.
   *
   * @param partSize largest number of actions in a fragment; one that is half full is kept
   */
  def of(base: Base, partSize: Long): FragmentPlan = {
    val (touched, untouched) = base.fragments.partition(_.isTouched)
    val (small, full) = untouched.partition(_.actions * 2 < partSize)
    val ascending = small.sortBy(_.actions)
    // What would be written if the first 0, 1, 2, ... are merged.
    val written = ascending.scanLeft(base.changes + touched.map(_.actions).sum)(_ + _.actions)
    val joins = ascending.zip(written).takeWhile { case (fragment, beside) =>
      fragment.actions <= beside
    }.size
    val (joining, apart) = ascending.splitAt(joins)
    FragmentPlan(kept = full ++ apart, replaced = touched ++ joining)
  }
}
