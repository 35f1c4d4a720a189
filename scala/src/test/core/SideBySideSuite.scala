package io.deltaupkeep

import java.util.concurrent.CountDownLatch

import org.scalatest.funsuite.AnyFunSuite

class SideBySideSuite extends AnyFunSuite {

  test("results keep the order of the items, which run at the same time") {
    val together = new CountDownLatch(3)
    val results = SideBySide.map(1 to 3, "test", threads = 3) { i =>
      together.countDown()
      together.await()
      i * 2
    }
    assert(results == Seq(2, 4, 6))
    assert(SideBySide.map(Seq.empty[Int], "test", threads = 3)(identity).isEmpty)
  }

  test("an error of any kind arrives as it is") {
    Seq(new IllegalStateException("no"), new OutOfMemoryError("no"), new NoClassDefFoundError("no")).foreach {
      error =>
        val thrown =
          intercept[Throwable](SideBySide.map(1 to 5, "test", 2)(i => if (i == 3) throw error else i))
        assert(thrown eq error)
        val attempts = SideBySide.attempts(1 to 5, "test", 2)(i => if (i == 3) throw error else i)
        assert(attempts.map(_.isSuccess) == Seq(true, true, false, true, true))
        assert(attempts(2).failed.get eq error)
    }
  }

  test("an error interrupts what still runs, whatever its place") {
    val (begun, interrupted) = (new CountDownLatch(1), new CountDownLatch(1))
    intercept[IllegalStateException] {
      SideBySide.map(1 to 2, "test", threads = 2) { i =>
        if (i == 1)
          try {
            begun.countDown()
            new CountDownLatch(1).await()
          } catch { case _: InterruptedException => interrupted.countDown() }
        else {
          begun.await()
          throw new IllegalStateException("no")
        }
      }
    }
    interrupted.await()
  }
}
