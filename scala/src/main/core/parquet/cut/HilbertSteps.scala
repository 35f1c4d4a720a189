package io.deltaupkeep.parquet.cut

import scala.collection.mutable

/**
 * Turns places on a Z-order into places on the Hilbert curve, several bits of each column at a time, from the highest to the
 * lowest: a table says what becomes of them, and how the curve is turned in the cube that they lead to. See
 * [[Curve.Hilbert.bend]], which it follows.
 *
 * @param columns from 2 to [[HilbertSteps.MostColumns]]
 * @param bits    of each column; a multiple of the bits of a step
 */
private[cut] final class HilbertSteps(columns: Int, bits: Int) {
  import HilbertSteps._

  private val width = columns * bitsOfStep(columns)
  private val mask = (1 << width) - 1

  /** By turn and bits: the next turn, and in the last eight bits those of the curve. */
  private val steps: Array[Int] = {
    val found = mutable.LinkedHashMap(Turn.none(columns) -> 0)
    val made = mutable.ArrayBuffer.empty[Int]
    var at = 0
    while (at < found.size) {
      val turn = found.keysIterator.drop(at).next()
      for (taken <- 0 to mask) {
        val (next, curve) = turn.through(taken, width)
        made += found.getOrElseUpdate(next, found.size) << StepBits | curve
      }
      at += 1
    }
    made.toArray
  }

  def apply(place: Long): Long = {
    var turn = 0
    var curve = 0L
    var shift = columns * bits - width
    while (shift >= 0) {
      val step = steps(turn << width | (place >>> shift).toInt & mask)
      curve = curve << width | (step & ((1 << StepBits) - 1)).toLong
      turn = step >>> StepBits
      shift -= width
    }
    curve
  }
}

private[cut] object HilbertSteps {

  /** For more, the table would not stay in a processor's cache. */
  val MostColumns = 4

  private val StepBits = 8

  /** Of each column. */
  private def bitsOfStep(columns: Int): Int = columns match {
    case 2 => 4
    case 3 => 2
    case _ => 1
  }

  /**
   * How a cube is turned: which column stands for each axis, which axes are mirrored, and whether the curve runs backwards.
   */
  private final case class Turn(axes: Vector[Int], mirrored: Vector[Boolean], isBackward: Boolean) {

    /** The turn of the cube that some bits lead to, and the bits of the curve: `width` of both, those of all columns in turn. */
    def through(bits: Int, width: Int): (Turn, Int) =
      if (width == 0) (this, 0)
      else {
        val (next, first) = through(bits >>> (width - axes.size) & ((1 << axes.size) - 1))
        val (last, rest) = next.through(bits, width - axes.size)
        (last, first << (width - axes.size) | rest)
      }

    /** The same for one bit of each column. */
    private def through(bits: Int): (Turn, Int) = {
      val point = axes.indices.map(i => (bits >>> (axes.size - 1 - axes(i)) & 1) == 1 ^ mirrored(i))
      val (turned, flipped) = point.indices.foldLeft((axes, mirrored)) { case ((axes, mirrored), i) =>
        if (point(i)) (axes, mirrored.updated(0, !mirrored(0)))
        else
          (
            axes.updated(0, axes(i)).updated(i, axes(0)),
            mirrored.updated(0, mirrored(i)).updated(i, mirrored(0))
          )
      }
      val gray = point.scanLeft(false)(_ ^ _).tail
      val curve = gray.foldLeft(0)((all, bit) => all << 1 | (if (bit ^ isBackward) 1 else 0))
      (Turn(turned, flipped, isBackward ^ gray.last), curve)
    }
  }

  private object Turn {
    def none(columns: Int): Turn =
      Turn(Vector.range(0, columns), Vector.fill(columns)(false), isBackward = false)
  }
}
