package io.deltaupkeep

/** An iterator over work that goes on in the background until it is closed. */
trait ClosableIterator[T] extends Iterator[T] with AutoCloseable

object ClosableIterator {

  def empty[T]: ClosableIterator[T] = ClosableIterator(Iterator[T]())(())

  /** An iterator over `values`; closing it runs `end`. */
  def apply[T](values: Iterator[T])(end: => Unit): ClosableIterator[T] = new ClosableIterator[T] {
    override def hasNext: Boolean = values.hasNext
    override def next(): T = values.next()
    override def close(): Unit = end
  }
}
