package io.deltaupkeep.parquet.merge

import io.deltaupkeep.parquet.encoding.{ValueDictionary, Values}

/** Maps the entries of an input's dictionary to ids of the output's, when they are needed. */
private[merge] final class EntryMapping(entries: Values) {
  import EntryMapping._

  private var missing = entries.size

  /** Indexed by entry. */
  val ids: Array[Int] = new Array[Int](entries.size)

  java.util.Arrays.fill(ids, Missing)

  /** Finds the ids of all entries; false if one does not fit, in which case no id may be used. */
  def mapAll(dictionary: ValueDictionary): Boolean = {
    var entry = 0
    while (entry < entries.size && add(entry, dictionary)) entry += 1
    entry == entries.size
  }

  /** Like [[mapAll]], for the entries that the first `count` ids of `source` refer to. */
  def map(source: Array[Int], count: Int, dictionary: ValueDictionary): Boolean = {
    var i = nextMissing(source, 0, count)
    while (i < count && add(source(i), dictionary)) i = nextMissing(source, i + 1, count)
    i == count
  }

  /** Few values are the first to refer to their entry, and none once all entries have ids. */
  private def nextMissing(source: Array[Int], from: Int, to: Int): Int =
    if (missing == 0) to
    else {
      val known = ids
      var i = from
      while (i < to && known(source(i)) != Missing) i += 1
      i
    }

  private def add(entry: Int, dictionary: ValueDictionary): Boolean = {
    val id = dictionary.idOf(entries.array, entries.start(entry), entries.start(entry + 1))
    ids(entry) = id
    missing -= 1
    id != ValueDictionary.Full
  }
}

private object EntryMapping {

  /** Stands for an id that was not looked up. */
  private val Missing = -2
}
