package io.deltaupkeep.parquet.gather

/** A number of 64 bits that tells sequences of numbers apart. */
object Fingerprint {

  def of(numbers: Array[Int], from: Int, until: Int): Long = {
    var hash = (until - from).toLong
    var i = from
    while (i < until) {
      hash = next(hash, numbers(i).toLong)
      i += 1
    }
    hash
  }

  def of(numbers: Iterable[Long]): Long = numbers.foldLeft(numbers.size.toLong)(next)

  private def next(hash: Long, number: Long): Long = {
    val mixed = (hash ^ number) * 0x9e3779b97f4a7c15L
    mixed ^ (mixed >>> 29)
  }
}
