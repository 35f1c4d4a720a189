package io.deltaupkeep.parquet.chunk

import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

class ScratchMemorySuite extends AnyFunSuite with Eventually {

  implicit override val patienceConfig: PatienceConfig = PatienceConfig(timeout = Span(30, Seconds))

  /** A worker that grows when it is told to. */
  private final class Worker(memory: ScratchMemory, first: Long, second: Long) {
    private val share = memory.share()
    share.growTo(first)
    private val grown = new CountDownLatch(1)
    private val thread = new Thread(() => {
      share.growTo(second)
      grown.countDown()
    })
    thread.setDaemon(true)

    def grow(): Unit = thread.start()
    def waits: Boolean = thread.getState == Thread.State.WAITING && grown.getCount > 0
    def awaitGrown(): Unit = assert(grown.await(30, TimeUnit.SECONDS))
    def end(): Unit = share.close()
  }

  test("a worker waits until others have ended, and so never takes more than what is left") {
    val memory = new ScratchMemory(100)
    val (idle, first, second) =
      (new Worker(memory, 10, 10), new Worker(memory, 50, 50), new Worker(memory, 30, 60))
    second.grow()
    eventually(assert(second.waits))
    idle.end()
    eventually(assert(second.waits))
    first.end()
    second.awaitGrown()
  }

  test("if all workers wait, one of them goes on and the others follow") {
    val memory = new ScratchMemory(100)
    val workers = Seq.fill(4)(new Worker(memory, 20, 90))
    workers.init.foreach(_.grow())
    eventually(assert(workers.init.forall(_.waits)))
    // The last one would be the fourth that waits.
    workers.last.grow()
    workers.last.awaitGrown()
    assert(workers.init.forall(_.waits))
    workers.last.end()
    var left = workers.init
    while (left.nonEmpty) {
      eventually(assert(left.count(!_.waits) == 1))
      val (going, waiting) = left.partition(!_.waits)
      going.foreach(_.end())
      left = waiting
    }
  }
}
