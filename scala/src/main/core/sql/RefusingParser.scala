package io.deltaupkeep.sql

import java.lang.reflect.{InvocationTargetException, Proxy}

import org.apache.spark.sql.catalyst.parser.ParserInterface

/**
 * Refuses our statements on a Spark that this artifact does not support, whose parsers have other methods.
 * Statements that Delta also has are left to Delta.
 */
private[sql] object RefusingParser {

  private val OnlyOurs = """(?is)\s*(CHECKPOINT|MAINTAIN|CLEANUP\s+LOG|DESC(RIBE)?\s+HEALTH)\s.*""".r

  def of(delegate: ParserInterface, why: String): ParserInterface =
    Proxy.newProxyInstance(
      classOf[ParserInterface].getClassLoader,
      Array(classOf[ParserInterface]),
      (_, method, arguments) => {
        if (method.getName.startsWith("parsePlan"))
          arguments.headOption.collect {
            case text: String if OnlyOurs.pattern.matcher(text).matches =>
              throw new UnsupportedOperationException(s"[DELTA_UPKEEP.UNSUPPORTED_SPARK] $why")
          }
        try method.invoke(delegate, Option(arguments).getOrElse(Array.empty[AnyRef]): _*)
        catch { case e: InvocationTargetException => throw e.getCause }
      }
    ).asInstanceOf[ParserInterface]
}
