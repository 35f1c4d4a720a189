package io.deltaupkeep.stats

import com.fasterxml.jackson.databind.node.{LongNode, ObjectNode}
import io.deltaupkeep.parquet.footer.{FooterColumns, FooterLeaf, LeafBounds}

import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.RebaseDateTime
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Finds the columns of a file whose statistics its footer tells exactly (protocol, 'Per-file Statistics'). For the others
 * rows have to be read. Pure.
 *
 * @param schema      of the data columns, by their physical names
 * @param columns     that statistics are collected of, by the parts of their physical names
 * @param haveDefault those columns of the schema that have a default value in files without them
 */
final class CertainStats(schema: StructType, columns: Seq[Seq[String]], haveDefault: Set[String])
    extends Serializable {
  import CertainStats._

  private val types: Map[Seq[String], DataType] = leaves(schema, Vector.empty).toMap

  def of(footer: FooterColumns): OfFile =
    if (footer.rows == 0) OfFile(0, Map.empty, Set.empty) else ofRows(footer)

  private def ofRows(footer: FooterColumns): OfFile = {
    val byName = footer.leaves.groupBy(_.path.map(lower))
    val heads = byName.keysIterator.map(_.head).toSet
    val found = columns.flatMap { path =>
      val facts = byName.get(path.map(lower)) match {
        case Some(Seq(leaf)) => types.get(path).flatMap(factsOf(_, leaf, footer.rows))
        // Spark refuses the file.
        case Some(_) => None
        case None =>
          Option.when(!heads(lower(path.head)) && !haveDefault(path.head))(Facts(footer.rows, None))
      }
      facts.map(path -> _)
    }.toMap
    OfFile(footer.rows, found, columns.filterNot(found.contains).toSet)
  }

  /**
   * Two rows with the least and the greatest values of a file, null where they are not known or there are none.
   *
   * @param last what the rows end with
   */
  def rowsOf(file: OfFile, last: Any): Seq[InternalRow] =
    Seq[Bounds => Any](_.min, _.max).map { bound =>
      def row(struct: StructType, above: Vector[String], more: Seq[Any]): InternalRow = {
        val values = struct.fields.toSeq.map { field =>
          val path = above :+ field.name
          field.dataType match {
            case nested: StructType => row(nested, path, Nil)
            case _ => file.columns.get(path).flatMap(_.bounds).map(bound).orNull
          }
        }
        new GenericInternalRow((values ++ more).toArray)
      }
      row(schema, Vector.empty, Seq(last))
    }
}

object CertainStats {
  import MergedStats._

  /** Of a file without rows. */
  val NoRows = """{"numRecords":0,"minValues":{},"maxValues":{},"nullCount":{}}"""

  /** Values as Spark holds them in rows. */
  final case class Bounds(min: Any, max: Any)

  /** @param bounds none if all values are null, or if the log has no bounds of the type */
  final case class Facts(nulls: Long, bounds: Option[Bounds])

  /** @param uncertain columns of which the footer does not tell enough */
  final case class OfFile(rows: Long, columns: Map[Seq[String], Facts], uncertain: Set[Seq[String]]) {

    def withoutBounds: OfFile = copy(columns = columns.map { case (path, facts) =>
      path -> facts.copy(bounds = None)
    })

    /**
     * The statistics as JSON.
     *
     * @param bounds as Delta's collector makes them of the rows of this file's bounds
     * @param read   as it makes them of the rows of the file, for what is uncertain
     */
    def json(bounds: String, read: Option[String]): String = if (rows == 0) NoRows
    else {
      val of = mapper.readTree(bounds)
      val result = read.fold(of)(mapper.readTree).asInstanceOf[ObjectNode]
      result.put(NumRecords, rows)
      for ((path, facts) <- columns) {
        put(result, NullCount +: path, LongNode.valueOf(facts.nulls))
        for (kind <- Seq(Min, Max); bound <- at(of, kind +: path)) put(result, kind +: path, bound)
      }
      mapper.writeValueAsString(result)
    }
  }

  private def factsOf(dataType: DataType, leaf: FooterLeaf, rows: Long): Option[Facts] =
    for {
      nulls <- leaf.nulls if !leaf.isRepeated && leaf.values == rows
      bounds <- if (nulls == rows) Some(None) else boundsOf(dataType, leaf)
    } yield Facts(nulls, bounds)

  /** None if they are not certain. */
  private def boundsOf(dataType: DataType, leaf: FooterLeaf): Option[Option[Bounds]] =
    (dataType, leaf.primitive.getPrimitiveTypeName) match {
      case (BooleanType, BOOLEAN) | (BinaryType, BINARY) => Some(None)
      case _ =>
        leaf.bounds.flatMap {
          case LeafBounds.Numbers(min, max) =>
            reader(dataType, leaf.primitive).flatMap { read =>
              for (least <- read(min); greatest <- read(max)) yield Some(Bounds(least, greatest))
            }
          case LeafBounds.Texts(min, max) =>
            Option.when(dataType == StringType)(Some(Bounds(
              UTF8String.fromBytes(min),
              UTF8String.fromBytes(max)
            )))
        }
    }

  /** Reads numbers of a file into values of the table's type; None if a conversion would be needed. */
  private def reader(dataType: DataType, primitive: PrimitiveType): Option[BigDecimal => Option[Any]] =
    (dataType, primitive.getPrimitiveTypeName, primitive.getLogicalTypeAnnotation) match {
      case (ByteType, _, _) if isInteger(primitive) => Some(n => Option.when(n.isValidByte)(n.toByte))
      case (ShortType, _, _) if isInteger(primitive) => Some(n => Option.when(n.isValidShort)(n.toShort))
      case (IntegerType, _, _) if isInteger(primitive) => Some(n => Option.when(n.isValidInt)(n.toInt))
      case (LongType, _, _) if isInteger(primitive) => Some(n => Some(n.toLong))
      case (FloatType, FLOAT, null) => Some(n => Some(n.toFloat))
      case (DoubleType, DOUBLE, null) => Some(n => Some(n.toDouble))
      // Spark may have written older ones in another calendar, or read them so.
      case (DateType, INT32, _: DateLogicalTypeAnnotation) =>
        Some(n => Option.when(n >= RebaseDateTime.lastSwitchJulianDay)(n.toInt))
      case (TimestampType, INT64, time: TimestampLogicalTypeAnnotation) if time.isAdjustedToUTC =>
        Some(n => Option.when(n >= RebaseDateTime.lastSwitchJulianTs)(n.toLong))
      case (TimestampNTZType, INT64, time: TimestampLogicalTypeAnnotation) if !time.isAdjustedToUTC =>
        Some(n => Option.when(n >= RebaseDateTime.lastSwitchJulianTs)(n.toLong))
      case (asked: DecimalType, _, stored: DecimalLogicalTypeAnnotation)
          if asked.precision == stored.getPrecision && asked.scale == stored.getScale =>
        Some { n =>
          // Some writers do not check it.
          Option.when(n.bigDecimal.precision <= asked.precision)(Decimal(n, asked.precision, asked.scale))
        }
      case _ => None
    }

  private def isInteger(primitive: PrimitiveType): Boolean = primitive.getLogicalTypeAnnotation match {
    case null => primitive.getPrimitiveTypeName == INT32 || primitive.getPrimitiveTypeName == INT64
    case ints: IntLogicalTypeAnnotation => ints.isSigned
    case _ => false
  }

  /** Spark finds columns by their names in any case. */
  private def lower(name: String): String = name.toLowerCase(java.util.Locale.ROOT)

  private def leaves(struct: StructType, above: Vector[String]): Seq[(Seq[String], DataType)] =
    struct.fields.toSeq.flatMap { field =>
      field.dataType match {
        case nested: StructType => leaves(nested, above :+ field.name)
        case other => Seq((above :+ field.name) -> other)
      }
    }
}
