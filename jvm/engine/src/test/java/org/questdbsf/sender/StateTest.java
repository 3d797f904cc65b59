package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.questdbsf.sender.SenderState.Kind;

/** What a sender says of itself as it connects, waits and is refused. */
class StateTest {
  private final SenderStatus status = new SenderStatus("s");

  private void reconnecting(int attempts) {
    status.reconnecting(Instant.now(), "refused", "h:1", attempts);
  }

  @Test
  void theFirstAttemptEverIsNoOutage() {
    reconnecting(0);
    assertEquals(Kind.OK, status.state().kind(), "however long it takes");
    reconnecting(1);
    assertEquals(Kind.RECONNECTING, status.state().kind());
    status.connected("h:1");
    assertEquals(Kind.OK, status.state().kind());
    reconnecting(0);
    assertEquals(Kind.RECONNECTING, status.state().kind(), "a connection was lost");
  }

  @Test
  void nothingAcknowledgedIsNotWellUntilSomethingIs() {
    status.connected("h:1");
    status.unanswered(TimeUnit.SECONDS.toNanos(7), "h:1");
    assertEquals(Kind.UNANSWERED, status.state().kind());
    assertTrue(status.state().since().isBefore(Instant.now().minusSeconds(6)));
    reconnecting(0);
    status.connected("h:1");
    assertEquals(Kind.UNANSWERED, status.state().kind(), "a connection acknowledges nothing");
    status.rejecting("no", "h:1");
    assertEquals(Kind.REJECTING, status.state().kind());
    status.progressed();
    assertEquals(Kind.OK, status.state().kind());
  }
}
