package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.questdbsf.net.RawServer.Script;

/** Attempts to connect to a server that follows a script. */
abstract class UpgradeFixture {
  final RecordedEvents events = new RecordedEvents();

  static ConnectSettings settings(
      Endpoint e, Credentials credentials, int authMillis, boolean durable) {
    return new ConnectSettings(
        List.of(e), false, TlsSettings.SYSTEM, credentials, 5000, authMillis, durable, "t/1");
  }

  ConnectFailure failureOf(Script script, boolean durable) throws Exception {
    try (RawServer server = new RawServer(script)) {
      Endpoint e = server.endpoint();
      ConnectFailure failure =
          assertThrows(
              ConnectFailure.class,
              () -> QwpConnection.open(e, settings(e, Credentials.NONE, 3000, durable), events));
      assertEquals(e, failure.endpoint());
      assertTrue(failure.getMessage().contains(e.toString()), failure.getMessage());
      assertEquals(List.of(), events.order, "no event of a connection that never was");
      return failure;
    }
  }

  static Script answering(String text) {
    return peer -> {
      peer.readRequest();
      peer.write(text);
      peer.endedByFin(); // stays until the client goes
    };
  }
}
