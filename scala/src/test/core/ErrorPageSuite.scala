package io.deltaupkeep

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.reflect.runtime.universe._

import org.scalatest.funsuite.AnyFunSuite

/** The page of error conditions has what the code says of them. */
class ErrorPageSuite extends AnyFunSuite {

  private val page = Path.of("../python/docs/errors.md")

  test("the page has every condition as it is declared") {
    val expected = ErrorPage.text
    val isSame = Files.exists(page) && Files.readString(page) == expected
    if (!isSame) Files.write(Path.of("target/errors.md"), expected.getBytes(UTF_8))
    assert(isSame, "The page is out of date. To renew it: cp scala/target/errors.md python/docs/errors.md")
  }
}

/** The page, made from the errors themselves. A parameter of a message is shown by its name. */
private object ErrorPage {

  private final case class Shown(name: String, sqlState: String, text: ErrorText)

  def text: String = {
    val conditions = declared.groupBy(_.name).toSeq.sortBy(_._1)
    (intro +: table(conditions) +: conditions.map((section _).tupled)).mkString("\n\n") + "\n"
  }

  private val intro =
    """# Error conditions
      |
      |Statements of Delta Upkeep fail with Spark's `AnalysisException`. Its condition is `DELTA_UPKEEP.<NAME>`: in Python
      |`e.getCondition()`, or `e.getErrorClass()` before PySpark 4. The message says the problem, the cause and the fix; words in
      |italics stand for names and numbers. The failed step has committed nothing. Earlier commits and deletions are not rolled
      |back.
      |
      |'Run again' says whether the same statement may succeed later. 'No' means that it has to be changed, or that the table does
      |not allow it. Errors without such a condition come from Spark, Delta or the store. After these a statement can be run again
      |too, once their cause is gone.
      |
      |If the artifact does not match the version of Spark, statements fail with an `UnsupportedOperationException` whose message
      |begins with `[DELTA_UPKEEP.UNSUPPORTED_SPARK]` and names the right artifact.
      |
      |`ErrorPageSuite` holds this page against the code.""".stripMargin

  private def table(conditions: Seq[(String, Seq[Shown])]): String =
    ("| condition | SQLSTATE | run again |\n|---|---|---|" +: conditions.map { case (name, variants) =>
      val retry = variants.map(_.text.retry.text).distinct.mkString("; ")
      s"| [$name](#${name.toLowerCase}) | ${variants.head.sqlState} | $retry |"
    }).mkString("\n")

  private def section(name: String, variants: Seq[Shown]): String =
    (s"## $name" +: variants.map(_.text).map { text =>
      s"- Problem: ${text.problem}\n- Cause: ${text.cause}\n- Fix: ${text.fix}\n- Run again: ${text.retry.text}"
    }).mkString("\n\n")

  private lazy val declared: Seq[Shown] = {
    val errors = runtimeMirror(getClass.getClassLoader).reflect(UpkeepErrors)
    typeOf[UpkeepErrors.type].decls.sorted.collect {
      case method: MethodSymbol if method.isPublic && method.returnType =:= typeOf[UpkeepException] =>
        val parameters = method.paramLists.flatten
        val made = errors.reflectMethod(method)(parameters.map(argument): _*).asInstanceOf[UpkeepException]
        Shown(made.name, made.getSqlState, named(made.text, parameters))
    }
  }

  /** Stands for numbers of a parameter, until the message is made. */
  private def number(parameter: Symbol): Long = 10000000000L + parameter.name.toString.hashCode.abs

  private def argument(parameter: Symbol): Any = parameter.typeSignature match {
    case text if text =:= typeOf[String] => shown(parameter)
    case texts if texts =:= typeOf[Seq[String]] => Seq(shown(parameter))
    case thrown if thrown =:= typeOf[Throwable] => new Exception("*message*")
    case thrown if thrown =:= typeOf[Option[Throwable]] => None
    case long if long =:= typeOf[Long] => number(parameter)
    case int if int =:= typeOf[Int] => (number(parameter) % 1000000000).toInt
    case pair if pair =:= typeOf[(Long, Long)] => (number(parameter), number(parameter))
    case flag if flag =:= typeOf[Boolean] => true
    case other => throw new IllegalArgumentException(s"$parameter has a type that no page shows: $other")
  }

  /** `tableHours` becomes *table hours*. */
  private def shown(parameter: Symbol): String =
    "(?=[A-Z])".r.split(parameter.name.toString).mkString("*", " ", "*").toLowerCase

  private def named(text: ErrorText, parameters: Seq[Symbol]): ErrorText = {
    def named(sentence: String): String = parameters.foldLeft(sentence) { (sentence, parameter) =>
      argument(parameter) match {
        case (number: Long, _) => sentence.replace(number.toString, "*n*")
        case number @ (_: Long | _: Int) => sentence.replace(number.toString, shown(parameter))
        case _ => sentence
      }
    }
    text.copy(named(text.problem), named(text.cause), named(text.fix))
  }
}
