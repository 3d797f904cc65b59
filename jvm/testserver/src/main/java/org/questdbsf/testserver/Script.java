package org.questdbsf.testserver;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.questdbsf.qwp.QwpMessage;

/**
 * What one port does other than a healthy server. Every method takes effect at once, also on
 * connections that are open, and may be called by any thread.
 *
 * <p>Without a script the server acknowledges as servers do: cumulatively, every 8 messages, at the
 * end of what it has received, on PING and before it closes.
 */
public final class Script {
  /** Batch cap of a server with the documented receive buffer of 2 MiB. */
  public static final int DEFAULT_MAX_BATCH_BYTES = 2 * 1024 * 1024 - 14;

  private static final long DEFAULT_IDLE_TIMEOUT_MILLIS = 300_000;
  private static final String DEFAULT_ROLE = "STANDALONE";

  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  private long ackDelayMillis;
  private int ackEvery;
  private boolean holdAcks;
  private Refusal nack;
  private Cut close;
  private Cut drop;
  private int refuseStatus;
  private Integer refuseTimes;
  private Map<String, String> refuseHeaders = Map.of();
  private String role = DEFAULT_ROLE;
  private int maxBatchBytes = DEFAULT_MAX_BATCH_BYTES;
  private boolean advertiseMaxBatch = true;
  private boolean grantDurableAcks;
  private boolean holdDurableAcks;
  private boolean silent;
  private long upgradeDelayMillis;
  private int httpStatus;
  private long idleTimeoutMillis = DEFAULT_IDLE_TIMEOUT_MILLIS;
  private int maxTables = ConnectionTables.MAX_TABLES;

  Script() {}

  /** Every acknowledgement and error reply leaves this much later, in order. */
  public Script ackDelayMillis(long millis) {
    return change(() -> ackDelayMillis = millis);
  }

  /**
   * Acknowledges only every n-th message, on PING and before close; 0: the healthy server's habit.
   */
  public Script ackEvery(int messages) {
    return change(() -> ackEvery = messages);
  }

  /** Commits, but acknowledges nothing until this is set to false again. */
  public Script holdAcks(boolean hold) {
    return change(() -> holdAcks = hold);
  }

  /** Refuses messages; null: no longer. */
  public Script nack(NackRule rule) {
    return change(() -> nack = rule == null ? null : new Refusal(rule));
  }

  /** Ends connections with a close frame; null: no longer. */
  public Script close(CutRule rule) {
    return change(() -> close = rule == null ? null : new Cut(rule));
  }

  /** Resets connections; null: no longer. */
  public Script drop(CutRule rule) {
    return change(() -> drop = rule == null ? null : new Cut(rule));
  }

  /**
   * Answers upgrades with this status and these headers; 0: accepts them again. With 421 the role
   * is sent as well, unless the headers name one.
   */
  public Script refuse(int status, Map<String, String> headers) {
    return refuse(status, headers, null);
  }

  /** As {@link #refuse(int, Map)}, for so many upgrades only (null: all). */
  public Script refuse(int status, Map<String, String> headers, Integer times) {
    return change(
        () -> {
          refuseStatus = status;
          refuseHeaders = headers == null ? Map.of() : Map.copyOf(headers);
          refuseTimes = times;
        });
  }

  /** Value of X-QuestDB-Role on 101 and 421; null: the header is not sent. */
  public Script role(String newRole) {
    return change(() -> role = newRole);
  }

  /**
   * Largest message taken, in bytes; larger ones end the connection with close code 1009. It is
   * advertised at upgrades. 0: the default cap, not advertised.
   */
  public Script maxBatchBytes(int bytes) {
    return change(
        () -> {
          maxBatchBytes = bytes == 0 ? DEFAULT_MAX_BATCH_BYTES : bytes;
          advertiseMaxBatch = bytes != 0;
        });
  }

  /** Grants durable acknowledgements at upgrades that ask for them (default: ignored, as OSS). */
  public Script grantDurableAcks(boolean grant) {
    return change(() -> grantDurableAcks = grant);
  }

  /** Withholds durable acknowledgements on connections that were granted them, or releases them. */
  public Script holdDurableAcks(boolean hold) {
    return change(() -> holdDurableAcks = hold);
  }

  /**
   * Half-open: connections stay, but nothing is read from them and nothing is sent, no answer to
   * upgrades, PING or close either.
   */
  public Script silent(boolean quiet) {
    return change(() -> silent = quiet);
  }

  /** Upgrades are answered this much later. */
  public Script upgradeDelayMillis(long millis) {
    return change(() -> upgradeDelayMillis = millis);
  }

  /**
   * Answers every request that would go to the real server ({@code /exec} and so on) with this
   * status instead; 0: passes them on again. For servers whose SQL cannot be reached.
   */
  public Script httpStatus(int status) {
    return change(() -> httpStatus = status);
  }

  /**
   * Connections that are opened from now on end without a word when nothing was read from them for
   * so long (default: 5 minutes, as servers do); 0: never.
   */
  public Script idleTimeoutMillis(long millis) {
    return change(() -> idleTimeoutMillis = millis);
  }

  /** Connections that are opened from now on may write to so many tables (default: 10,000). */
  public Script maxTables(int tables) {
    return change(() -> maxTables = tables);
  }

  /** A healthy server again. */
  public Script reset() {
    return change(this::resetAll);
  }

  /**
   * Applies a JSON object: names as the setters in snake_case, absent and null ones unchanged.
   *
   * <pre>{@code
   * {"reset": true,                     first of all, a healthy server
   *  "ack_delay_millis": 500, "ack_every": 100, "hold_acks": true,
   *  "nack": {"status": 9, "message": "disk full", "table": "t", "after_messages": 3, "times": 2},
   *  "close": {"code": 1011, "reason": "x", "after_messages": 3, "times": 1},
   *  "drop_after_messages": 3, "drop_times": 1,
   *  "refuse_status": 421, "refuse_headers": {"X-QuestDB-Role": "REPLICA"}, "refuse_times": 2,
   *  "role": "PRIMARY", "max_batch_bytes": 131072,
   *  "durable_acks": {"grant": true, "hold": true},
   *  "silent": true, "upgrade_delay_millis": 100, "http_status": 405,
   *  "idle_timeout_millis": 1000, "max_tables": 3}
   * }</pre>
   *
   * <p>{@code times} absent means every time; a rule with {@code "times": 0} is taken away.
   *
   * @throws IllegalArgumentException if the text is not such an object; nothing is changed then
   */
  public Script apply(String json) {
    List<Runnable> assignments = new ScriptJson(this).read(json);
    return change(() -> assignments.forEach(Runnable::run));
  }

  /** Called after each change, by the thread that made it. */
  void addListener(Runnable listener) {
    listeners.add(listener);
  }

  void removeListener(Runnable listener) {
    listeners.remove(listener);
  }

  synchronized long ackDelayMillis() {
    return ackDelayMillis;
  }

  synchronized int ackEvery() {
    return ackEvery;
  }

  synchronized boolean acksHeld() {
    return holdAcks;
  }

  /** The rule that refuses this message, or null; counts the message. */
  synchronized NackRule refusalOf(QwpMessage message) {
    return nack != null && nack.hits(message) ? nack.rule : null;
  }

  synchronized Cut close() {
    return close;
  }

  synchronized Cut drop() {
    return drop;
  }

  /** The status to refuse this upgrade with, or 0; counts the upgrade. */
  synchronized int refuseUpgrade() {
    if (refuseStatus == 0 || refuseTimes != null && refuseTimes == 0) {
      return 0;
    }
    if (refuseTimes != null) {
      refuseTimes--;
    }
    return refuseStatus;
  }

  synchronized Map<String, String> refuseHeaders() {
    return refuseHeaders;
  }

  synchronized String role() {
    return role;
  }

  synchronized int maxBatchBytes() {
    return maxBatchBytes;
  }

  synchronized boolean maxBatchAdvertised() {
    return advertiseMaxBatch;
  }

  synchronized boolean durableAcksGranted() {
    return grantDurableAcks;
  }

  synchronized boolean durableAcksHeld() {
    return holdDurableAcks;
  }

  synchronized boolean isSilent() {
    return silent;
  }

  synchronized long upgradeDelayMillis() {
    return upgradeDelayMillis;
  }

  synchronized int httpStatus() {
    return httpStatus;
  }

  synchronized long idleTimeoutMillis() {
    return idleTimeoutMillis;
  }

  synchronized int maxTables() {
    return maxTables;
  }

  private void resetAll() {
    ackDelayMillis = 0;
    ackEvery = 0;
    holdAcks = false;
    nack = null;
    close = null;
    drop = null;
    refuseStatus = 0;
    refuseTimes = null;
    refuseHeaders = Map.of();
    role = DEFAULT_ROLE;
    maxBatchBytes = DEFAULT_MAX_BATCH_BYTES;
    advertiseMaxBatch = true;
    grantDurableAcks = false;
    holdDurableAcks = false;
    silent = false;
    upgradeDelayMillis = 0;
    httpStatus = 0;
    idleTimeoutMillis = DEFAULT_IDLE_TIMEOUT_MILLIS;
    maxTables = ConnectionTables.MAX_TABLES;
  }

  private Script change(Runnable assignment) {
    synchronized (this) {
      assignment.run();
    }
    listeners.forEach(Runnable::run);
    return this;
  }

  /** A rule with its counts; guarded by the script. */
  private static final class Refusal {
    private final NackRule rule;
    private long seen;
    private long refused;

    private Refusal(NackRule rule) {
      this.rule = rule;
    }

    private boolean hits(QwpMessage message) {
      if (rule.table() != null
          && message.tables().stream().noneMatch(t -> t.name().equalsIgnoreCase(rule.table()))) {
        return false;
      }
      boolean hit =
          seen++ >= rule.afterMessages() && (rule.times() == null || refused < rule.times());
      if (hit) {
        refused++;
      }
      return hit;
    }
  }

  /** A rule and how many connections it has ended. */
  static final class Cut {
    private final CutRule rule;
    private final AtomicInteger done = new AtomicInteger();

    private Cut(CutRule rule) {
      this.rule = rule;
    }

    CutRule rule() {
      return rule;
    }

    /** Whether one more connection may be ended; counts it. */
    boolean take() {
      return rule.times() == null || done.getAndIncrement() < rule.times();
    }
  }
}
