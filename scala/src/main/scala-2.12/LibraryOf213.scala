package io.deltaupkeep

import scala.collection.mutable
import scala.util.Try

/** The parts of the Scala 2.13 library that the sources use and that 2.12 lacks. */
object LibraryOf213 {

  implicit class Options(private val self: Option.type) extends AnyVal {
    def when[A](condition: Boolean)(value: => A): Option[A] = if (condition) Some(value) else None
    def unless[A](condition: Boolean)(value: => A): Option[A] = when(!condition)(value)
  }

  implicit class Texts(private val self: String) extends AnyVal {
    def toIntOption: Option[Int] = Try(self.toInt).toOption
    def toLongOption: Option[Long] = Try(self.toLong).toOption
    def toDoubleOption: Option[Double] = Try(self.toDouble).toOption
  }

  implicit class Iterators(private val self: Iterator.type) extends AnyVal {
    def unfold[A, S](first: S)(next: S => Option[(A, S)]): Iterator[A] =
      self
        .iterate(next(first))(_.flatMap { case (_, state) => next(state) })
        .takeWhile(_.nonEmpty)
        .map(_.get._1)
  }

  implicit class Sequences[A](private val self: Seq[A]) extends AnyVal {
    def distinctBy[B](key: A => B): Seq[A] = {
      val seen = mutable.Set.empty[B]
      self.filter(element => seen.add(key(element)))
    }
  }

  implicit class Iterations[A](private val self: Iterator[A]) extends AnyVal {
    def nextOption(): Option[A] = if (self.hasNext) Some(self.next()) else None
  }
}
