package io.deltaupkeep.parquet.plan

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.encoding.ValueConverter
import io.deltaupkeep.parquet.page.LevelMap

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType, Type}
import org.apache.parquet.schema.Type.Repetition

/**
 * Finds the columns of an output schema in a file, or says why the file cannot be spliced. Pure.
 *
 * Constant columns are not looked up: their values are PLAIN, or None for null.
 */
private[parquet] object ColumnSources {
  import ColumnSource.Form
  import NestedTypes._

  def of(
      output: MessageType,
      file: MessageType,
      matching: FieldMatching,
      constants: Map[String, Option[Array[Byte]]] = Map.empty,
      lacking: LackingFields = LackingFields()
  ): Either[String, IndexedSeq[ColumnSource]] = {
    val sources = output.getColumns.asScala.toIndexedSeq.map { column =>
      constants.get(column.getPath.head) match {
        case Some(value) => Right(value.fold[ColumnSource](ColumnSource.Absent)(ColumnSource.Constant))
        case None => sourceOf(output, file, matching, lacking, column)
      }
    }
    val problem = ShreddedVariants.mismatch(output, file, matching)
    problem.orElse(sources.collectFirst { case Left(reason) => reason }) match {
      case Some(reason) => Left(reason)
      case None => Right(sources.collect { case Right(source) => source })
    }
  }

  private def sourceOf(
      output: MessageType,
      file: MessageType,
      matching: FieldMatching,
      lacking: LackingFields,
      column: ColumnDescriptor
  ): Either[String, ColumnSource] = {
    val wanted = fieldsOf(output, column.getPath.toSeq)
    val name = column.getPath.mkString(".")
    val found = foundFields(output, file, matching, wanted)
    mismatch(wanted, found, name).orElse(ambiguity(output, file, matching, wanted, found, name)) match {
      case Some(reason) => Left(reason)
      case None if found.size == wanted.size => Right(present(file, wanted, found, column))
      case None if !wanted(found.size).isRepetition(Repetition.OPTIONAL) =>
        Left(s"column $name is required but missing from a file")
      case None if found.isEmpty && lacking.defaults(ColumnName(wanted.head.getName)) =>
        Left(s"column ${wanted.head.getName} is missing from a file, so readers supply its default")
      case None if found.isEmpty => Right(ColumnSource.Absent)
      case None
          if lacking.nullStructs && !hasField(
            wanted(found.size - 1).asGroupType,
            found.last.asGroupType,
            matching
          ) =>
        Left(s"column $name is in a struct that has none of its fields in a file, which Spark reads as null")
      case None => Right(shaped(file, wanted, found))
    }
  }

  private def hasField(table: GroupType, file: GroupType, matching: FieldMatching): Boolean =
    table.getFields.asScala.exists { field =>
      matching.find(table, field, file).exists { found =>
        field.isPrimitive || found.isPrimitive || hasField(field.asGroupType, found.asGroupType, matching)
      }
    }

  /** The fields along a path, from the top. */
  private def fieldsOf(schema: MessageType, path: Seq[String]): IndexedSeq[Type] =
    path.indices.map(i => schema.getType(path.take(i + 1): _*))

  /** The fields of the file that match `wanted`, as deep as the file has them. */
  private def foundFields(
      output: MessageType,
      file: MessageType,
      matching: FieldMatching,
      wanted: IndexedSeq[Type]
  ): IndexedSeq[Type] = {
    @tailrec
    def follow(table: GroupType, group: GroupType, found: IndexedSeq[Type]): IndexedSeq[Type] = {
      val field = wanted(found.size)
      matching.find(table, field, group) match {
        case Some(next) if found.size + 1 < wanted.size && !next.isPrimitive =>
          follow(field.asGroupType, next.asGroupType, found :+ next)
        case Some(next) => found :+ next
        case None => found
      }
    }
    follow(output, file, IndexedSeq.empty)
  }

  private def mismatch(wanted: IndexedSeq[Type], found: IndexedSeq[Type], name: String): Option[String] =
    wanted.zip(found).collectFirst {
      case (a, b) if a.isPrimitive != b.isPrimitive => s"column $name has a different structure in a file"
      case (a, b) if a.isPrimitive && !isUsable(b.asPrimitiveType, a.asPrimitiveType) =>
        s"column $name is ${describe(b)} in a file, and ${describe(a)} in others or in the table"
      case (a, b) if isRepeated(a) != isRepeated(b) => s"column $name has a different structure in a file"
      case (a, b) if a.isRepetition(Repetition.REQUIRED) && b.isRepetition(Repetition.OPTIONAL) =>
        s"column $name is required, but a file allows nulls in it"
      case (a, b) if !isRepeated(a) && (isList(a) != isList(b) || isMap(a) != isMap(b)) =>
        s"column $name has a different structure in a file"
      case (a, b) if isCollection(a) && !isRepeated(a) && !b.isPrimitive && !hasThreeLevels(b.asGroupType) =>
        s"column $name is stored without the three levels of lists and maps in a file"
      case (a, b) if isMap(a) && !isRepeated(a) && !b.isPrimitive && mayLackKeys(b.asGroupType) =>
        s"column $name is in a map whose keys may be null in a file"
      case (a, b)
          if isRepeated(a) && !a.isPrimitive && a.asGroupType.getFieldCount != b.asGroupType.getFieldCount =>
        s"column $name has a different structure in a file"
    }

  private def isUsable(file: PrimitiveType, output: PrimitiveType): Boolean =
    OutputSchema.isSameStorage(output, file) || ValueConverter.of(file, output).nonEmpty

  private def ambiguity(
      output: MessageType,
      file: MessageType,
      matching: FieldMatching,
      wanted: IndexedSeq[Type],
      found: IndexedSeq[Type],
      name: String
  ): Option[String] = {
    val tables = output +: wanted.init.map(_.asGroupType)
    val groups = file +: found.take(wanted.size - 1).map(_.asGroupType)
    val isTwice = found.indices.exists(i => matching.isTwice(tables(i), wanted(i), groups(i)))
    if (isTwice) Some(s"column $name has two spellings in a file")
    else Option.when(found.size < wanted.size) {
      val (table, group) = (tables(found.size), groups(found.size))
      if (matching.isAmbiguous(table, wanted(found.size), group))
        Some(s"column $name has a different ${if (matching.byId) "field id" else "spelling"} in a file")
      // Readers disagree on the level of such an element.
      else
        Option.when(
          found.exists(isRepeated) && !table.getFields.asScala.exists(matching.find(table, _, group).nonEmpty)
        )(
          s"column $name is in an element of a list or map that has none of its fields in a file"
        )
    }.flatten
  }

  private def present(
      file: MessageType,
      wanted: IndexedSeq[Type],
      found: IndexedSeq[Type],
      output: ColumnDescriptor
  ): ColumnSource = {
    val column = file.getColumnDescription(found.map(_.getName).toArray)
    val levels = LevelMap(definitionLevels(wanted, found, found.size), column.getMaxRepetitionLevel)
    val samePath = column.getPath.sameElements(output.getPath)
    val sameLevels = column.getMaxDefinitionLevel == output.getMaxDefinitionLevel
    val (stored, wantedType) = (column.getPrimitiveType, output.getPrimitiveType)
    val form =
      if (!OutputSchema.isSameStorage(wantedType, stored))
        Form.Converted(ValueConverter.of(stored, wantedType).get)
      else if (samePath && sameLevels && levels.isIdentity) Form.Equal
      else Form.Moved
    ColumnSource.Present(indexOf(file, column), column, levels, form)
  }

  private def shaped(file: MessageType, wanted: IndexedSeq[Type], found: IndexedSeq[Type]): ColumnSource = {
    val path = firstLeaf(found)
    val column = file.getColumnDescription(path.map(_.getName).toArray)
    ColumnSource.Shaped(
      indexOf(file, column),
      column,
      LevelMap(definitionLevels(wanted, path, found.size), found.count(isRepeated))
    )
  }

  @tailrec
  private def firstLeaf(path: IndexedSeq[Type]): IndexedSeq[Type] =
    if (path.last.isPrimitive) path else firstLeaf(path :+ path.last.asGroupType.getType(0))

  /**
   * The output's definition level for each level of the file. Only the first `shared` fields of both paths
   * are the same; levels beyond them are cut off.
   *
   * Example: s and s.a are optional in the output, but s is required in the file. Level 0 of the file, a null a,
   * becomes 1, and 1 becomes 2.
   */
  private def definitionLevels(
      wanted: IndexedSeq[Type],
      file: IndexedSeq[Type],
      shared: Int
  ): IndexedSeq[Int] = {
    val levelled = file.indices.filterNot(i => file(i).isRepetition(Repetition.REQUIRED))
    (levelled :+ file.size).map { firstUndefined =>
      wanted.take(math.min(firstUndefined, shared)).count(!_.isRepetition(Repetition.REQUIRED))
    }
  }

  private def indexOf(file: MessageType, column: ColumnDescriptor): Int = file.getColumns.indexOf(column)

  def describe(field: Type): String = {
    val primitive = field.asPrimitiveType
    val annotation = Option(primitive.getLogicalTypeAnnotation).fold("")(a => s" ($a)")
    s"${primitive.getPrimitiveTypeName}$annotation"
  }
}
