package org.questdbsf.net;

import java.util.Objects;

/**
 * Why an endpoint did not give a connection. The message is for people: endpoint, what happened,
 * the server's words where there were any, what to look at. It never holds a credential.
 */
public final class ConnectFailure extends Exception {
  private static final long serialVersionUID = 1L;

  /** Classes of failure, by what a reconnect loop does about them. */
  public enum Kind {
    /** HTTP 401 or 403. */
    AUTH,
    /** HTTP 421 with a role that stays for long: REPLICA and all others but the next. */
    ROLE_TOPOLOGY,
    /** HTTP 421 with the role PRIMARY_CATCHUP: soon a primary. */
    ROLE_TRANSIENT,
    /** Name look-up, TCP, TLS, time-outs, answers that are not HTTP, all other statuses. */
    TRANSPORT,
    /** 101, but with a protocol version that this client does not speak. */
    VERSION,
    /** 101, but the durable acknowledgements asked for are not granted. */
    DURABLE_NOT_GRANTED
  }

  private final Kind kind;
  private final Endpoint endpoint;
  private final int httpStatus;

  ConnectFailure(Kind kind, Endpoint endpoint, int httpStatus, String message, Throwable cause) {
    super(message, cause);
    this.kind = Objects.requireNonNull(kind, "kind");
    this.endpoint = Objects.requireNonNull(endpoint, "endpoint");
    this.httpStatus = httpStatus;
  }

  static ConnectFailure transport(Endpoint endpoint, String message, Throwable cause) {
    return new ConnectFailure(Kind.TRANSPORT, endpoint, 0, message, cause);
  }

  /** The class of failure. */
  public Kind kind() {
    return kind;
  }

  /** The endpoint that was tried. */
  public Endpoint endpoint() {
    return endpoint;
  }

  /** The status of the server's answer; 0 when there was none that is HTTP. */
  public int httpStatus() {
    return httpStatus;
  }
}
