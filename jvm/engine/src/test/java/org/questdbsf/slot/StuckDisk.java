package org.questdbsf.slot;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The real disk, but that one kind of work on the segments of some slots does not end before it is
 * let go.
 */
public final class StuckDisk implements InvocationHandler {
  private final String operation;
  private final String slots;
  private final CountDownLatch stuck;
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private final AtomicInteger calls = new AtomicInteger();

  /**
   * @param operation a method of {@link DiskIo}
   * @param slots how the names of the slots begin
   * @param callers for how many {@link #awaitStuck} waits
   */
  public StuckDisk(String operation, String slots, int callers) {
    this.operation = operation;
    this.slots = slots;
    this.stuck = new CountDownLatch(callers);
  }

  /** What the code under test works with. */
  public DiskIo io() {
    return (DiskIo)
        Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {DiskIo.class}, this);
  }

  /** Waits until all callers are stuck. */
  public void awaitStuck() throws InterruptedException {
    stuck.await();
  }

  /** Lets them go, and all that come later. */
  public void letGo() {
    goesOn.countDown();
  }

  /** How many calls there were of the kind that gets stuck. */
  public int calls() {
    return calls.get();
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals(operation)
        && arguments[0] instanceof Path file
        && file.toString().endsWith(".sfa")
        && file.getParent().getFileName().toString().startsWith(slots)
        && Thread.currentThread().getName().equals("questdb-sf-slots")) {
      calls.incrementAndGet();
      stuck.countDown();
      goesOn.await();
    }
    try {
      return method.invoke(DiskIo.PRODUCTION, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
