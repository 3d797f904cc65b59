package org.questdbsf.net;

import java.util.Objects;

/**
 * SQL over {@code GET /exec} on the same port as the WebSocket, with the same TLS, credentials and
 * time-outs; no proxy is asked. Blocking, interruptible, one connection per query. Any thread.
 */
public final class SqlOverHttp {
  private final ConnectSettings settings;

  /** Uses the TLS, credentials and time-outs of these settings. */
  public SqlOverHttp(ConnectSettings settings) {
    this.settings = Objects.requireNonNull(settings, "settings");
  }

  /**
   * Runs one statement.
   *
   * @throws SqlFailure when it cannot be sent, is refused, or the answer cannot be read
   * @throws InterruptedException when interrupted; whether the statement ran is then unknown
   */
  public SqlResult query(Endpoint endpoint, String sql) throws SqlFailure, InterruptedException {
    throw new UnsupportedOperationException("not yet: " + settings);
  }
}
