package io.deltaupkeep.parquet.page

import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.hadoop.ParquetOutputFormat

import org.apache.hadoop.conf.Configuration

/**
 * The limits of a page, as parquet-java's writer applies them.
 *
 * @param pageRows        largest number of rows in a page
 * @param pageBytes       approximate uncompressed size of its values
 * @param dictionaryBytes largest size of a dictionary page; 0 for no dictionaries
 */
final case class PageLayout(pageRows: Int, pageBytes: Int, dictionaryBytes: Int)

object PageLayout {

  /** From parquet-java's own settings. */
  def of(conf: Configuration): PageLayout = PageLayout(
    math.max(
      1,
      conf.getInt(
        ParquetOutputFormat.PAGE_ROW_COUNT_LIMIT,
        ParquetProperties.DEFAULT_PAGE_ROW_COUNT_LIMIT
      )
    ),
    conf.getInt(ParquetOutputFormat.PAGE_SIZE, ParquetProperties.DEFAULT_PAGE_SIZE),
    if (conf.getBoolean(ParquetOutputFormat.ENABLE_DICTIONARY, true))
      conf.getInt(
        ParquetOutputFormat.DICTIONARY_PAGE_SIZE,
        ParquetProperties.DEFAULT_DICTIONARY_PAGE_SIZE
      )
    else 0
  )
}
