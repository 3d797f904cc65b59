package org.questdbsf.sender;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.questdbsf.testserver.TestServer;

/** Tests of a class share a server of their own; each has a table of its own. */
abstract class WithTestServer {
  private static final AtomicInteger TABLES = new AtomicInteger();

  static TestServer server;

  /** A name that no other test has; in both cases. */
  final String table = getClass().getSimpleName() + TABLES.incrementAndGet();

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @AfterEach
  void healthy() {
    server.script().reset();
  }
}
