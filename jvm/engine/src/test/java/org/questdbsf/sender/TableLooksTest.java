package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.RawServer;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;

/** What the lanes of a JVM cost a server that is asked about its tables. */
@Timeout(60)
class TableLooksTest {
  private static final int LANES = 64;
  private static final long APART_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final ExecutorService lanes = Executors.newCachedThreadPool();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger queries = new AtomicInteger();
  private final Semaphore arrived = new Semaphore(0);
  private final Semaphore answers = new Semaphore(0);
  private volatile boolean refuses;
  private RawServer server;
  private Endpoint endpoint;

  @BeforeEach
  void serve() throws Exception {
    server = new RawServer(this::serve);
    endpoint = server.endpoint();
  }

  private void serve(RawServer.Peer peer) throws Exception {
    connections.incrementAndGet();
    while (!peer.socket.isClosed()) {
      String line = peer.readRequest().line();
      queries.incrementAndGet();
      arrived.release();
      answers.acquire();
      String body =
          "{\"columns\":[{\"name\":\"table_name\",\"type\":\"STRING\"},"
              + "{\"name\":\"id\",\"type\":\"INT\"}],\"dataset\":["
              + (line.contains("one") ? "[\"One\",1]" : "")
              + "]}";
      String status = refuses ? "400 Bad Request" : "200 OK";
      peer.write("HTTP/1.1 " + status + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
    }
  }

  @AfterEach
  void end() {
    lanes.shutdownNow();
    // Not closed in order: the client keeps its connection.
    answers.release(1000);
  }

  private TableLooks.Answer look(long since, String... tables) throws Exception {
    // Each lane has settings of its own, with the same in them.
    SqlOverHttp sql = new SqlOverHttp(SenderConfig.parse("ws::addr=" + endpoint).connectSettings());
    return TableLooks.look(
        sql, endpoint, List.of(tables), since, since - TimeUnit.HOURS.toNanos(1));
  }

  @Test
  void manyLanesCostNoMoreThanOne() throws Exception {
    answers.release(1_000_000);
    CountDownLatch ready = new CountDownLatch(LANES);
    long began = System.nanoTime();
    List<Future<?>> all = new ArrayList<>();
    for (int lane = 0; lane < LANES; lane++) {
      all.add(
          lanes.submit(
              () -> {
                ready.countDown();
                ready.await();
                for (int i = 0; i < 10; i++) {
                  long asked = System.nanoTime();
                  TableLooks.Answer answer = look(asked, "one");
                  assertTrue(answer.began() - asked >= 0, "began before it was asked for");
                  assertEquals("One", answer.there().get("one").table());
                }
                return null;
              }));
    }
    for (Future<?> lane : all) {
      lane.get();
    }
    long most = 2 + (System.nanoTime() - began) / APART_NANOS;
    assertTrue(queries.get() <= most, queries + " queries where " + most + " are the most");
    assertEquals(1, connections.get());
  }

  @Test
  void aLookThatBeganBeforeTheQuestionDoesNotAnswerIt() throws Exception {
    final Future<TableLooks.Answer> first = lanes.submit(() -> look(System.nanoTime(), "one"));
    arrived.acquire();
    long asked = System.nanoTime();
    final Future<TableLooks.Answer> second = lanes.submit(() -> look(asked, "one"));
    answers.release();
    assertTrue(first.get().began() - asked < 0);
    arrived.acquire();
    assertFalse(second.isDone());
    answers.release();
    assertTrue(second.get().began() - asked >= 0);
    assertEquals(2, queries.get());
  }

  @Test
  void aLookThatRunsAnswersWhoeverIsContentWithIt() throws Exception {
    final long before = System.nanoTime();
    final Future<TableLooks.Answer> first = lanes.submit(() -> look(before, "one"));
    arrived.acquire();
    final Future<TableLooks.Answer> second = lanes.submit(() -> look(before, "one"));
    answers.release(1_000_000);
    assertSame(first.get(), second.get());
    assertEquals(1, queries.get());
  }

  @Test
  void anOlderLookAnswersWhereItIsGoodEnoughAndKnowsTheTables() throws Exception {
    answers.release(1_000_000);
    TableLooks.Answer first = look(System.nanoTime(), "one");
    assertSame(first, look(first.began(), "one"));
    assertEquals(1, queries.get());
    TableLooks.Answer both = look(first.began(), "one", "other");
    assertNotSame(first, both);
    assertFalse(both.there().containsKey("other"));
    assertSame(both, look(first.began(), "one"));
  }

  @Test
  void aRefusalIsToldToAllAndTheNextLookIsMadeAllTheSame() throws Exception {
    refuses = true;
    answers.release(1_000_000);
    SqlFailure failure =
        assertThrows(SqlFailure.class, () -> look(System.nanoTime(), "one").tables());
    assertEquals(400, failure.httpStatus());
    refuses = false;
    assertEquals(1, look(System.nanoTime(), "one").there().size());
  }

  /** It is asked for its own tables, also where they were asked for long ago. */
  @Test
  void whoWaitsLongForASlowServerIsAnsweredAllTheSame() throws Exception {
    final Future<TableLooks.Answer> first = lanes.submit(() -> look(System.nanoTime(), "other"));
    arrived.acquire();
    final Future<TableLooks.Answer> second = lanes.submit(() -> look(System.nanoTime(), "one"));
    TimeUnit.SECONDS.sleep(11); // how slow the server is
    answers.release(1_000_000);
    first.get();
    assertEquals(Set.of("one"), second.get().tables().keySet());
  }

  /** However slow its SQL is, who asks next waits for little more than the look at hand. */
  @Test
  void aSlowLookDelaysTheNextByASecondAtMost() throws Exception {
    final Future<TableLooks.Answer> first = lanes.submit(() -> look(System.nanoTime(), "one"));
    arrived.acquire();
    TimeUnit.SECONDS.sleep(2); // how slow the server is
    answers.release(1_000_000);
    long cost = first.get().nanos();
    long rest = look(System.nanoTime(), "one").began() - first.get().began() - cost;
    assertTrue(rest < cost, "waited " + rest + " ns after a look of " + cost);
  }

  /** Who makes the look for all may be told to stop: another one makes it. */
  @Test
  void whereTheFirstIsInterruptedAnotherLooks() throws Exception {
    final Future<TableLooks.Answer> first = lanes.submit(() -> look(System.nanoTime(), "one"));
    arrived.acquire();
    List<Future<TableLooks.Answer>> others = new ArrayList<>();
    for (int lane = 0; lane < 3; lane++) {
      others.add(lanes.submit(() -> look(System.nanoTime(), "one")));
    }
    first.cancel(true);
    answers.release(1_000_000);
    for (Future<TableLooks.Answer> other : others) {
      assertEquals(1, other.get().tables().size());
    }
  }

  /** Behind one address may be one server today and another tomorrow. */
  @Test
  void aConnectionFromBeforeTheTablesWereCheckedIsNotUsed() throws Exception {
    answers.release(1_000_000);
    SqlOverHttp sql = new SqlOverHttp(SenderConfig.parse("ws::addr=" + endpoint).connectSettings());
    TableLooks.Answer first = look(System.nanoTime(), "one");
    long checked = System.nanoTime();
    List<String> one = List.of("one");
    assertNotSame(first, TableLooks.look(sql, endpoint, one, first.began(), checked));
    assertEquals(2, connections.get());
    TableLooks.look(sql, endpoint, one, System.nanoTime(), checked);
    assertEquals(2, connections.get());
  }

  /** A hundred tables of ordinary names are one query. */
  @Test
  void manyTablesAreFewQueries() throws Exception {
    answers.release(1_000_000);
    String[] tables = new String[100];
    for (int i = 0; i < tables.length; i++) {
      tables[i] = "measurements_" + i;
    }
    look(System.nanoTime(), tables);
    assertEquals(1, queries.get());
    for (int i = 0; i < tables.length; i++) {
      tables[i] = "é".repeat(60) + i;
    }
    look(System.nanoTime(), tables);
    assertTrue(queries.get() > 2, "a URL is not to outgrow what servers take");
  }

  /** A doubt is answered by a check at the next connect, and holds up nobody who goes elsewhere. */
  @Test
  void aDoubtAboutOneServerMakesNoLookAtAnother() {
    TableWatch watch = new TableWatch();
    Endpoint other = new Endpoint("other", 9000);
    TableWatch.Seen seen = new TableWatch.Seen("1", "ts", List.of());
    watch.checked(endpoint, "t", seen);
    watch.checked(other, "t", seen);
    long now = System.nanoTime();
    watch.looked(now, 0);
    watch.doubt(endpoint, "t");
    assertTrue(watch.doubted(endpoint, "t"));
    assertFalse(watch.doubted(other, "t"));
    assertFalse(watch.isDue(true, now) || watch.isDue(false, now));
  }
}
