package io.deltaupkeep.parquet.gather

import io.deltaupkeep.parquet.DrawnValues
import io.deltaupkeep.parquet.file.Refusal
import io.deltaupkeep.parquet.footer.FileSlice

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

class FilePartSuite extends AnyFunSuite with DrawnValues {

  private def whole(files: Int*): Seq[FilePart] = files.map(FilePart(_, FileSlice.Whole))

  test("tasks take files one after the other, and slices of those that are too large") {
    assert(FilePart.divided(IndexedSeq(5, 5), 10) == IndexedSeq(whole(0, 1)))
    assert(FilePart.divided(IndexedSeq(2, 3, 4, 1, 1), 5) == IndexedSeq(whole(0, 1), whole(2, 3), whole(4)))
    assert(FilePart.divided(IndexedSeq(1, 0, 9), 4) == IndexedSeq(
      whole(0, 1) :+ FilePart(2, FileSlice(0, 3)),
      Seq(FilePart(2, FileSlice(1, 3))),
      Seq(FilePart(2, FileSlice(2, 3)))
    ))
  }

  test("each slice of each file is in one part, in their order, and no part of several is too large") {
    val files = Gen.zip(Gen.nonEmptyListOf(Gen.choose(0L, 100L)), Gen.choose(0L, 150L))
    forDrawn(files) { case (sizes, ofTask) =>
      val parts = FilePart.divided(sizes.toIndexedSeq, ofTask)
      val slices = parts.flatten
      assert(slices.map(_.file).distinct == sizes.indices)
      slices.groupBy(_.file).values.foreach { ofFile =>
        assert(ofFile.map(_.slice) == ofFile.indices.map(FileSlice(_, ofFile.size)))
      }
      def bytes(part: FilePart) = sizes(part.file) / part.slice.of
      assert(parts.forall(part => part.size == 1 || part.map(bytes).sum <= math.max(1, ofTask)))
    }
  }

  test("a bin is divided for what one task cannot take, and finer for what parts cannot") {
    assert(Division.of(10, 10).isEmpty)
    val halves = Division.of(11, 10)
    assert(halves.map(_.ofTask).contains(5L))
    assert(
      Division.told(halves) ==
        "rows are put in order column by column, by several tasks: 11 B are more than the 10 B that one takes"
    )
    val tooLarge = Refusal("it is too large", times = 2.5)
    assert(Division.after(tooLarge, 11, halves).contains(Division(2, "it is too large", tries = 1)))
    assert(Division.after(tooLarge, 1000, None).contains(Division(200, "it is too large", tries = 1)))
    // What is not for its size is refused once and for all, and so is what more tasks do not help.
    assert(Division.after(Refusal("it is odd"), 1000, None).isEmpty)
    assert(Division.after(tooLarge, 1000, Some(Division(100, "it is too large", tries = 3))).isEmpty)
    assert(Division.after(tooLarge.copy(times = 1e6), 1L << 40, None).isEmpty)
  }
}
