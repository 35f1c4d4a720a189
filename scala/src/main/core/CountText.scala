package io.deltaupkeep

/** Counts as people read them. */
object CountText {

  /** 1 and "file" give "1 file"; 2 give "2 files". */
  def of(count: Long, thing: String): String = if (count == 1) s"1 $thing" else s"$count ${thing}s"
}
