package org.questdbsf.sender;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.time.Instant;
import java.util.random.RandomGenerator;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.Backoff;
import org.questdbsf.net.ConnectFailure;
import org.questdbsf.net.ConnectFailure.Kind;
import org.questdbsf.net.ConnectSettings;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.HostTracker;
import org.questdbsf.net.QwpConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets the next connection: hosts in the order of their health, a sleep only between rounds, paced,
 * within the budget of an outage (client spec, section on the reconnect loop; facts 7.1 and 7.2).
 * Loop's thread only.
 */
final class ConnectionCycle {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionCycle.class);
  private static final int SINK_AUTH_ROUNDS = 3;

  private final LoopSetup setup;
  private final Mailbox mailbox;
  private final LoopControl control;
  private final ReconnectPacer pacer;
  private final OutageClock outages;
  private final CapWatch caps;
  private final StallLog stalls;
  private final ConnectSettings settings;
  private final HostTracker tracker;
  private final Backoff backoff;

  private int host = -1;
  private int number;
  private int authRounds;
  private int attempts;
  private boolean planned; // no outage yet: we gave up the last connection ourselves
  private long quietUntil = System.nanoTime();
  private OutageClock.Start outage;
  private String cause = "not connected yet";
  private String lastHost;

  ConnectionCycle(
      LoopSetup setup,
      Mailbox mailbox,
      LoopControl control,
      ReconnectPacer pacer,
      OutageClock outages,
      CapWatch caps,
      StallLog stalls,
      RandomGenerator random) {
    this.setup = setup;
    this.mailbox = mailbox;
    this.control = control;
    this.pacer = pacer;
    this.outages = outages;
    this.caps = caps;
    this.stalls = stalls;
    this.settings = setup.config().connectSettings();
    this.tracker = new HostTracker(settings.endpoints());
    long initial = setup.config().reconnectInitialBackoffMillis();
    long max = Math.max(initial, setup.config().reconnectMaxBackoffMillis());
    this.backoff = new Backoff(initial, max, random);
  }

  /** The present connection was given up; to be called before the next {@link #connect}. */
  void lost(Loss loss) throws InterruptedException {
    cause = loss.cause();
    switch (loss.kind()) {
      case TRANSPORT -> tracker.recordMidStreamFailure(host);
      case HOST_REFUSES -> tracker.recordRoleReject(host, Kind.ROLE_TOPOLOGY);
      case CAP -> {
        tracker.recordRoleReject(host, Kind.ROLE_TOPOLOGY);
        caps.tooSmall(host, System.nanoTime());
      }
      case FRAME, DICTIONARY -> {}
    }
    planned = loss.kind() == Loss.Kind.DICTIONARY;
    attempts = 0;
    tracker.beginRound(false);
    say("sender '{}': connection to {} given up: {}", setup.name(), lastHost, cause);
    control.pause(MILLISECONDS.toNanos(loss.pauseMillis()));
  }

  /**
   * Blocks until a host is connected, admitted by the gate, and takes the head frame.
   *
   * @throws TerminalFailure when there is no hope, or the outage lasted too long
   * @throws InterruptedException when stopping
   */
  Link connect() throws InterruptedException, TerminalFailure {
    long now = System.nanoTime();
    boolean first = !setup.status().connectedOnce();
    outage = first ? outages.begin(now) : new OutageClock.Start(now, Instant.now());
    attempts = 0;
    ConnectRound round = new ConnectRound();
    boolean firstOfWalk = true;
    while (true) {
      int next = tracker.pickNext();
      if (next < 0) {
        endRound(round);
        round = new ConnectRound();
        firstOfWalk = true;
        continue;
      }
      pace(firstOfWalk);
      firstOfWalk = false;
      Link link = attempt(next, round);
      if (link != null) {
        connected(next, link);
        return link;
      }
    }
  }

  private void pace(boolean firstOfWalk) throws InterruptedException {
    if (!planned || attempts > 0) {
      setup.status().reconnecting(outage.at(), cause, lastHost, attempts);
    }
    stalls.look(System.nanoTime());
    long wait = pacer.waitNanos(firstOfWalk, System.nanoTime());
    while (wait > 0) {
      control.pause(wait);
      wait = pacer.waitNanos(firstOfWalk, System.nanoTime());
    }
    pacer.attempt(firstOfWalk, System.nanoTime());
  }

  private Link attempt(int next, ConnectRound round) throws InterruptedException, TerminalFailure {
    Endpoint endpoint = tracker.endpoint(next);
    lastHost = endpoint.toString();
    outages.tried(System.nanoTime());
    attempts++;
    number++;
    if (number > 1 && !isRoutine()) {
      setup.counters().reconnectAttempts.increment();
    }
    QwpConnection connection;
    try {
      connection =
          control.interruptibly(
              () -> QwpConnection.open(endpoint, settings, mailbox.eventsOf(number)));
    } catch (ConnectFailure failure) {
      refused(next, failure, round);
      return null;
    }
    Link link = null;
    try {
      link = admit(next, connection, round);
    } finally {
      if (link == null) {
        connection.abort();
      }
    }
    return link;
  }

  private void refused(int next, ConnectFailure failure, ConnectRound round)
      throws TerminalFailure {
    caps.forget(next);
    cause = failure.getMessage();
    Kind kind = failure.kind();
    round.failed(failure.endpoint(), kind, cause);
    LOG.debug("sender '{}': {}", setup.name(), cause);
    if (kind == Kind.ROLE_TOPOLOGY || kind == Kind.ROLE_TRANSIENT) {
      tracker.recordRoleReject(next, kind);
    } else {
      tracker.recordTransportError(next);
    }
    if (kind == Kind.AUTH && setup.defaults() == PolicyDefaults.ENGINE) {
      throw authFailed(cause, failure);
    }
  }

  private Link admit(int next, QwpConnection connection, ConnectRound round)
      throws InterruptedException, TerminalFailure {
    setup.cap().seen(connection.endpoint(), connection.maxBatchBytes());
    long version = setup.gate().version();
    Link link = new Link(connection, number, version);
    int head = setup.ring().frameLength(setup.ring().ackedFsn() + 1);
    if (link.tooLarge(head)) {
      cause = tooLarge(head, connection.maxBatchBytes());
      round.failed(connection.endpoint(), Kind.ROLE_TOPOLOGY, cause);
      tracker.recordRoleReject(next, Kind.ROLE_TOPOLOGY);
      caps.tooSmall(next, System.nanoTime());
      return null;
    }
    try {
      control.interruptibly(
          () -> {
            setup.gate().admit(connection.endpoint());
            return null;
          });
      return link;
    } catch (GateClosed closed) {
      if (closed.terminal()) {
        throw setup.gateClosed(closed, link.host());
      }
      cause = closed.getMessage();
      round.failed(connection.endpoint(), Kind.TRANSPORT, cause);
      tracker.recordTransportError(next);
      return null;
    }
  }

  static String tooLarge(long bytes, int cap) {
    return "the next frame has " + bytes + " bytes, the server takes " + cap;
  }

  private void connected(int next, Link link) {
    boolean again = setup.status().connectedOnce();
    outages.over();
    host = next;
    authRounds = 0;
    tracker.recordSuccess(next);
    backoff.reset();
    if (again && !isRoutine()) {
      setup.counters().reconnectsSucceeded.increment();
    }
    setup.status().connected(link.host());
    say("sender '{}': connected to {} after {} attempts", setup.name(), link.host(), attempts);
  }

  /**
   * Whether the last connection was ended by us for the next dictionary, and nothing failed yet.
   */
  private boolean isRoutine() {
    return planned && attempts <= 1;
  }

  /**
   * One line a second at most: a server that flaps must not fill a disk with it. What is routine is
   * no news.
   */
  private void say(String format, Object... values) {
    long now = System.nanoTime();
    if (!isRoutine() && now - quietUntil >= 0) {
      quietUntil = now + SECONDS.toNanos(1);
      LOG.info(format, values);
    } else {
      LOG.debug(format, values);
    }
  }

  private void endRound(ConnectRound round) throws InterruptedException, TerminalFailure {
    long now = System.nanoTime();
    if (round.onlyAuth() && ++authRounds >= SINK_AUTH_ROUNDS) {
      throw authFailed(round.describe(), null);
    }
    authRounds = round.onlyAuth() ? authRounds : 0;
    if (round.onlyDurableNotGranted()) {
      throw failed(
          ErrorCode.DURABLE_ACK_UNAVAILABLE,
          "no server grants durable acknowledgements (" + round.describe() + ")");
    }
    if (caps.hopeless(now)) {
      throw failed(
          ErrorCode.FRAME_TOO_LARGE,
          "every server has refused the size of the next frame for "
              + setup.config().catchUpCapGapMinEscalationWindowMillis()
              + " ms ("
              + round.describe()
              + "); raise http.recv.buffer.size of a server");
    }
    if (!setup.status().connectedOnce() && isStrictAboutFirst()) {
      throw failed(
          ErrorCode.CONNECT_FAILED,
          "no server accepted a connection ("
              + round.describe()
              + "); with initial_connect_retry=on or async it is tried again");
    }
    long sleep =
        MILLISECONDS.toNanos(
            round.onlyRoles() ? backoff.roleRejectSleepMillis() : backoff.nextSleepMillis());
    control.pause(Math.min(sleep, leftOfBudget(now, round)));
    tracker.beginRound(true);
  }

  private boolean isStrictAboutFirst() {
    return setup.config().initialConnect() == InitialConnect.OFF;
  }

  private long leftOfBudget(long now, ConnectRound round) throws TerminalFailure {
    long budget = setup.config().reconnectMaxDurationMillis();
    if (budget == 0) {
      return Long.MAX_VALUE;
    }
    long left = MILLISECONDS.toNanos(budget) - (now - outage.nanos());
    if (left <= 0) {
      throw failed(
          ErrorCode.OUTAGE_BUDGET_EXHAUSTED,
          "no server for "
              + budget
              + " ms (reconnect_max_duration_millis), since "
              + outage.at()
              + ", after "
              + attempts
              + " attempts ("
              + round.describe()
              + ")");
    }
    return left;
  }

  private TerminalFailure authFailed(String message, Throwable failure) {
    return setup.failure(
        ErrorCode.AUTH_FAILED, Category.SECURITY_ERROR, message, lastHost, failure);
  }

  private TerminalFailure failed(ErrorCode code, String message) {
    Category category =
        code == ErrorCode.FRAME_TOO_LARGE ? Category.LOCAL_FAILURE : Category.OUTAGE;
    return setup.failure(code, category, message, lastHost, null);
  }
}
