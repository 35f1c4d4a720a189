package io.deltaupkeep.parquet.file

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.bytes.MalformedPage
import io.deltaupkeep.parquet.chunk.{
  ChunkReader,
  ChunkScratch,
  ColumnSink,
  ConvertedPages,
  CutPages,
  FilledPages,
  MadePages,
  RowPages
}
import io.deltaupkeep.parquet.footer.RowGroup
import io.deltaupkeep.parquet.page.LevelMap
import io.deltaupkeep.parquet.plan.{ChunkPart, ColumnSource}

import org.apache.parquet.column.ColumnDescriptor

/**
 * Reads the parts of a column of the output: without deleted rows, converted, and filled in.
 *
 * @param pageRows rows of a page that no file has
 */
private[parquet] final class PartReader(scratch: ChunkScratch, pageRows: Int) {
  import ColumnSource.Form

  /** @throws io.deltaupkeep.UnreadableInput if the chunk does not match its metadata */
  def append(part: ChunkPart, to: ColumnSink): Unit =
    UnreadableInput.naming(part.rowGroup.file.name)(read(part, to))

  private def read(part: ChunkPart, to: ColumnSink): Unit = {
    val group = part.rowGroup
    part.source match {
      case ColumnSource.Present(index, from, levels, form) =>
        read(group, index, from) { stored =>
          val (column, pages) = form match {
            case Form.Converted(converter) =>
              val converted = typedAs(from, to.column)
              (converted, new ConvertedPages(converted, stored, converter, scratch))
            case Form.Equal | Form.Moved => (from, stored)
          }
          to.append(cut(column, filled(column, pages, part), group), levels)
        }
      case ColumnSource.Shaped(index, from, levels) =>
        read(group, index, from) { stored =>
          to.appendShape(cut(from, stored, group), levels)
        }
      case ColumnSource.Constant(plain) =>
        val rows = MadePages.constant(to.column, plain, group.rows, pageRows)
        to.append(rows, LevelMap.identity(to.column))
      case ColumnSource.Absent => part.fill match {
          case Some(fill) =>
            val filled = MadePages.filled(to.column, fill, group.firstRow, group.storedRows, pageRows)
            to.append(cut(to.column, filled, group), LevelMap.identity(to.column))
          case None => to.appendNulls(group.rows)
        }
    }
  }

  /** A column of the file, with the output's type. */
  private def typedAs(from: ColumnDescriptor, output: ColumnDescriptor): ColumnDescriptor =
    new ColumnDescriptor(
      from.getPath,
      output.getPrimitiveType,
      from.getMaxRepetitionLevel,
      from.getMaxDefinitionLevel
    )

  private def read(
      group: RowGroup,
      index: Int,
      column: ColumnDescriptor
  )(append: RowPages => Unit): Unit = {
    val chunk = group.chunk(index)
    val bytes = group.file.bytes.read(chunk.start, Math.toIntExact(chunk.size))
    val hidesCompression = group.file.writtenBy.hidesCompression
    val reader = new ChunkReader(column, chunk, bytes.array, bytes.from, scratch, hidesCompression)
    append(reader)
    // Otherwise the rows of different columns would not line up.
    if (reader.rows != group.storedRows)
      throw new MalformedPage(s"${reader.rows} rows of a column in a row group of ${group.storedRows}")
  }

  private def filled(column: ColumnDescriptor, pages: RowPages, part: ChunkPart): RowPages =
    part.fill.fold(pages)(new FilledPages(column, pages, _, part.rowGroup.firstRow))

  private def cut(
      column: ColumnDescriptor,
      pages: RowPages,
      group: RowGroup
  ): RowPages =
    group.selection.fold(pages)(new CutPages(column, pages, _, group.firstRow, scratch.cut))
}
