package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** One outage for senders that take over from one another. */
@Timeout(30)
class OutageClockTest {
  private static String sinceWhenNoServer(OutageClock outages) throws Exception {
    Sender sender =
        Senders.builder("127.0.0.1:1", "reconnect_max_duration_millis=100;")
            .outages(outages)
            .errorHandler(error -> {})
            .build();
    Senders.publish(sender, "t", 0, 1);
    SfException e = assertThrows(SfException.class, () -> sender.awaitAcked(0));
    assertEquals(ErrorCode.OUTAGE_BUDGET_EXHAUSTED, e.code());
    sender.close();
    return e.getMessage().replaceAll(".*, since (\\S+), after.*", "$1");
  }

  /** Four attempts at a task shall not wait four times as long as one. */
  @Test
  void aSenderThatTakesOverGoesOnWithTheOutage() throws Exception {
    OutageClock outages = new OutageClock();
    String since = sinceWhenNoServer(outages);
    assertEquals(since, sinceWhenNoServer(outages));
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = Senders.builder(server.address(), "").outages(outages).build()) {
      sender.awaitAcked(Senders.publish(sender, "t", 0, 1));
    }
    assertNotEquals(since, sinceWhenNoServer(outages), "a server was there meanwhile");
  }

  @Test
  void anOutageThatNobodyWatchedIsForgotten() {
    OutageClock outages = new OutageClock();
    OutageClock.Start first = outages.begin(0);
    outages.tried(TimeUnit.SECONDS.toNanos(50));
    assertSame(first, outages.begin(TimeUnit.SECONDS.toNanos(100)));
    assertNotSame(first, outages.begin(TimeUnit.SECONDS.toNanos(161)));
  }
}
