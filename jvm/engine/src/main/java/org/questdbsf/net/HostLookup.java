package org.questdbsf.net;

import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Name look-up with a bound. The system's resolver can neither be interrupted nor given a time, so
 * it runs on at most two daemon threads of its own (gone when idle for ten seconds), and callers
 * that ask for a name already being looked up share the answer.
 */
final class HostLookup {
  private static final ThreadPoolExecutor THREADS =
      new ThreadPoolExecutor(
          2,
          2,
          10,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          new DefaultThreadFactory("questdb-sf-lookup", true));

  static {
    THREADS.allowCoreThreadTimeOut(true);
  }

  private static final ConcurrentMap<String, CompletableFuture<InetAddress[]>> RUNNING =
      new ConcurrentHashMap<>();

  private HostLookup() {}

  /** All addresses of a host, at once when it is a literal. */
  static InetAddress[] lookup(String host, long timeoutMillis)
      throws UnknownHostException, TimeoutException, InterruptedException {
    byte[] literal = NetUtil.createByteArrayFromIpAddressString(host);
    if (literal != null) {
      return new InetAddress[] {InetAddress.getByAddress(literal)};
    }
    try {
      return start(host).get(timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownHostException unknown) {
        throw unknown;
      }
      throw new IllegalStateException("look-up of " + host, e.getCause());
    }
  }

  private static CompletableFuture<InetAddress[]> start(String host) {
    CompletableFuture<InetAddress[]> lookup =
        RUNNING.computeIfAbsent(
            host, h -> CompletableFuture.supplyAsync(() -> allAddresses(h), THREADS));
    lookup.whenComplete((found, failure) -> RUNNING.remove(host, lookup));
    return lookup;
  }

  private static InetAddress[] allAddresses(String host) {
    try {
      return InetAddress.getAllByName(host);
    } catch (UnknownHostException e) {
      throw new CompletionException(e);
    }
  }
}
