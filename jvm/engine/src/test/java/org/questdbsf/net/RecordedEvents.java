package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Keeps the events of a connection in order, and lets a test wait for them. */
final class RecordedEvents implements ConnectionEvents {
  private final BlockingQueue<ServerReply> replies = new LinkedBlockingQueue<>();
  private final BlockingQueue<CloseInfo> closed = new LinkedBlockingQueue<>();
  final List<String> order = new CopyOnWriteArrayList<>();
  final Semaphore writable = new Semaphore(0);

  @Override
  public void onReply(ServerReply reply, int bytes) {
    order.add("reply");
    replies.add(reply);
  }

  @Override
  public void onClosed(CloseInfo info) {
    order.add("closed");
    closed.add(info);
  }

  @Override
  public void onWritable() {
    order.add("writable");
    writable.release();
  }

  ServerReply reply() throws InterruptedException {
    ServerReply reply = replies.poll(10, TimeUnit.SECONDS);
    assertNotNull(reply, "no reply in time");
    return reply;
  }

  CloseInfo closed() throws InterruptedException {
    CloseInfo info = closed.poll(10, TimeUnit.SECONDS);
    assertNotNull(info, "no onClosed in time");
    return info;
  }

  int count(String event) {
    return (int) order.stream().filter(event::equals).count();
  }
}
