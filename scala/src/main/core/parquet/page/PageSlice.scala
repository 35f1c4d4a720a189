package io.deltaupkeep.parquet.page

/**
 * The rows of an input's page that go to the page under construction: at least one, and only whole rows.
 *
 * Values count with their PLAIN size, as in parquet-java, whatever their encoding: if the dictionary is
 * abandoned, the page becomes PLAIN.
 */
private[parquet] final class PageSlice {

  /** Where its levels and its values end. */
  var levelEnd: Int = 0
  var valueEnd: Int = 0

  /** PLAIN size of its values. */
  var plainBytes: Long = 0

  /**
   * Finds the rows.
   *
   * @param level     where they start; `value` likewise
   * @param rowsLeft  rows that still fit into the page under construction
   * @param bytesLeft bytes that still fit
   */
  def find(input: PageData, level: Int, value: Int, rowsLeft: Int, bytesLeft: Long): Unit = {
    val isFlat = input.repetition.isAll(0)
    val end = if (isFlat) level + math.min(math.max(1, rowsLeft), input.levels - level) else input.levels
    if (isFlat) {
      val values =
        if (end == input.levels) input.nonNull - value
        else input.definition.occurrences(input.maxDefinition, level, end)
      take(end, value + values, input.plainBytes(value, value + values, bytesLeft))
    }
    if (!isFlat || plainBytes > bytesLeft) walk(input, level, value, end, rowsLeft, bytesLeft)
  }

  private def take(levels: Int, values: Int, bytes: Long): Unit = {
    levelEnd = levels
    valueEnd = values
    plainBytes = bytes
  }

  private def walk(
      input: PageData,
      level: Int,
      value: Int,
      end: Int,
      rowsLeft: Int,
      bytesLeft: Long
  ): Unit = {
    val (repetition, definition, maxDefinition) = (input.repetition, input.definition, input.maxDefinition)
    val bitsOfLevels = input.bitsOfLevels
    val source = input.plainValues
    val ids = if (input.isDictionaryEncoded) input.ids else null
    var at = level
    var next = value
    var bytes = 0L
    var rows = 0
    var fits = true
    while (fits && at < end) {
      if (at > level && repetition(at) == 0) {
        take(at, next, bytes)
        rows += 1
        fits = rows < rowsLeft
      }
      if (fits) {
        if (definition(at) == maxDefinition) {
          val entry = if (ids == null) next else ids(next)
          bytes += source.encodedLength(entry, entry + 1)
          next += 1
        }
        at += 1
        fits = rows == 0 || bytes + (at - level).toLong * bitsOfLevels / 8 <= bytesLeft
      }
    }
    if (fits) take(end, next, bytes)
  }
}
