package io.deltaupkeep.plan.compact

import java.util.{Collections, IdentityHashMap}

/** Some objects themselves: others that equal them are not among them. Looks at no field, so large objects cost nothing. */
private[compact] object IdentitySet {

  def of[T <: AnyRef](objects: IterableOnce[T]): T => Boolean = {
    val set = Collections.newSetFromMap(new IdentityHashMap[T, java.lang.Boolean])
    objects.iterator.foreach(set.add)
    set.contains(_)
  }
}
