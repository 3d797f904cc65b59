package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.sender.ConfigPreset;
import org.questdbsf.sender.ConnectKey;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.TableCheck;
import org.questdbsf.sender.TableSpec;
import org.questdbsf.sender.TtlFloor;
import org.questdbsf.testserver.TestServer;

/** Which times a table with a TTL takes, row by row. */
class DesignatedRangeTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static TableCheck check() {
    SenderConfig config =
        SenderConfig.of(Map.of(ConnectKey.ADDR, "127.0.0.1:" + server.port()), ConfigPreset.SINK);
    return new TableCheck(new SqlOverHttp(config.connectSettings()));
  }

  private static long day(int day) {
    return ChronoUnit.MICROS.between(
        Instant.EPOCH, Instant.parse("2020-01-01T00:00:00Z").plus(day, ChronoUnit.DAYS));
  }

  private static void refused(DesignatedRange range, long time) {
    Errors.of(ErrorCode.VALUE_INVALID, () -> range.check(time), "older than the table's TTL");
  }

  @Test
  void theServerTakesWhatIsTakenHereAndRefusesTheRest() {
    server.sql("CREATE TABLE edges (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL");
    DesignatedRange range = new DesignatedRange(QwpType.TIMESTAMP, new TtlFloor(), TtlFloor.NONE);
    long last = Instant.parse("+10000-01-01T00:00:00Z").getEpochSecond() * 1_000_000 - 1;
    for (long taken : new long[] {0, 1, last}) {
      range.check(taken);
      server.sql("INSERT INTO edges VALUES (cast(" + taken + "L as timestamp))");
    }
    for (long refused : new long[] {-1, Long.MIN_VALUE + 1, last + 1, Long.MAX_VALUE}) {
      Errors.of(ErrorCode.VALUE_INVALID, () -> range.check(refused), "designated timestamp");
      assertThrows(
          RuntimeException.class,
          () -> server.sql("INSERT INTO edges VALUES (cast(" + refused + "L as timestamp))"));
    }
    DesignatedRange nanos =
        new DesignatedRange(QwpType.TIMESTAMP_NANOS, new TtlFloor(), TtlFloor.NONE);
    // The partition of the next nanosecond has no end, with PARTITION BY YEAR.
    long lastNanos = Instant.parse("2262-01-01T00:00:00Z").getEpochSecond() * 1_000_000_000 - 1;
    nanos.check(lastNanos);
    for (long refused : new long[] {lastNanos + 1, Long.MAX_VALUE}) {
      Errors.of(ErrorCode.VALUE_INVALID, () -> nanos.check(refused), "2261-12-31T23:59:59.999999Z");
    }
    Errors.of(ErrorCode.VALUE_INVALID, () -> nanos.check(-1), "before 1970");
  }

  @Test
  void theFloorRisesWithTheRowsOfTheTaskItself() throws Exception {
    server.sql(
        "CREATE TABLE aging (v LONG, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY TTL 2 DAYS WAL");
    TableCheck check = check();
    check.require(TableSpec.builder("aging").designated("ts", QwpType.TIMESTAMP).build());
    DesignatedRange range =
        new DesignatedRange(QwpType.TIMESTAMP, check.ttlFloor("aging"), TtlFloor.NONE);
    range.check(day(1)); // nobody has looked at the table yet
    range.check(day(20));
    range.check(day(10));
    check.admit(new Endpoint("127.0.0.1", server.port()));
    refused(range, day(17)); // known from the very next row on
    range.check(day(18));
    range.check(day(30));
    range.check(day(29));
    refused(range, day(27));
    range.check(day(28));
    for (int i = 31; i < 60; i++) {
      range.check(day(i));
      refused(range, day(i - 2) - 1);
      range.check(day(i - 2));
    }
    assertTrue(check.ttlFloor("aging").isSet());
  }
}
