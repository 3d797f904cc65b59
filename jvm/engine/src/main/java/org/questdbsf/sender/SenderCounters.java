package org.questdbsf.sender;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * What a sender did so far (client spec, section on counters). Counters only grow; any thread may
 * read them without a lock, and sees each one recent, but not all of one moment.
 */
public final class SenderCounters {
  private static final long LONGEST_LATENCY_MILLIS = 24L * 3600 * 1000;

  final LongAdder reconnectAttempts = new LongAdder();
  final LongAdder reconnectsSucceeded = new LongAdder();
  final LongAdder framesSent = new LongAdder();
  final LongAdder framesReplayed = new LongAdder();
  final LongAdder framesAcked = new LongAdder();
  final LongAdder acksRejected = new LongAdder();
  final LongAdder framesDropped = new LongAdder();
  final LongAdder framesMissing = new LongAdder();
  final LongAdder rowsDropped = new LongAdder();
  final LongAdder rowsWritten = new LongAdder();
  final LongAdder framesWritten = new LongAdder();
  final LongAdder bytesWritten = new LongAdder();
  final LongAdder bytesSettled = new LongAdder();
  final LongAdder serverErrors = new LongAdder();
  final LongAdder errorNotificationsDropped = new LongAdder();
  final LongAdder errorNotificationsDelivered = new LongAdder();

  private final ConcurrentHistogram ackLatency = new ConcurrentHistogram(LONGEST_LATENCY_MILLIS, 2);

  SenderCounters() {}

  void recordAckLatency(long millis) {
    ackLatency.recordValue(Math.max(0, Math.min(millis, LONGEST_LATENCY_MILLIS)));
  }

  /**
   * Attempts to connect again, each host counted: all but the very first, and those that only begin
   * a symbol dictionary anew.
   */
  public long reconnectAttempts() {
    return reconnectAttempts.sum();
  }

  /** Connections made after one was lost; not those that only begin a symbol dictionary anew. */
  public long reconnectsSucceeded() {
    return reconnectsSucceeded.sum();
  }

  /** Frames sent, each time they were; without dictionary messages. */
  public long framesSent() {
    return framesSent.sum();
  }

  /** Frames sent that had been sent before. */
  public long framesReplayed() {
    return framesReplayed.sum();
  }

  /** Frames that the server acknowledged, durably where that was asked for. */
  public long framesAcked() {
    return framesAcked.sum();
  }

  /** OKs that did not account for the frames they acknowledged; those frames were sent again. */
  public long acksRejected() {
    return acksRejected.sum();
  }

  /** Frames given up by policy, or retired because their transaction was never committed. */
  public long framesDropped() {
    return framesDropped.sum();
  }

  /** Frames that its slot lacked when it was opened; nobody knows whether they arrived. */
  public long framesMissing() {
    return framesMissing.sum();
  }

  /**
   * Rows in frames given up by policy, where that could be read, and rows that had become too large
   * for a frame.
   */
  public long rowsDropped() {
    return rowsDropped.sum();
  }

  /** Rows put into the ring. */
  public long rowsWritten() {
    return rowsWritten.sum();
  }

  /** Frames put into the ring. */
  public long framesWritten() {
    return framesWritten.sum();
  }

  /** Bytes of frames put into the ring, without segment overhead. */
  public long bytesWritten() {
    return bytesWritten.sum();
  }

  /**
   * Bytes of frames put into the ring that are neither acknowledged nor given up; frames that an
   * earlier process left are not among them.
   */
  public long unackedBytes() {
    long settled = bytesSettled.sum(); // before what was written, so that it is never above
    return Math.max(0, bytesWritten.sum() - settled);
  }

  /** Error frames received, of any category. */
  public long serverErrors() {
    return serverErrors.sum();
  }

  /** Errors that did not fit the inbox. */
  public long errorNotificationsDropped() {
    return errorNotificationsDropped.sum();
  }

  /** Errors given to the handler. */
  public long errorNotificationsDelivered() {
    return errorNotificationsDelivered.sum();
  }

  /** Milliseconds from publication to acknowledgement, median; 0 before the first. */
  public long ackLatencyP50Millis() {
    return ackLatency.getValueAtPercentile(50);
  }

  /** The same, 99th percentile. */
  public long ackLatencyP99Millis() {
    return ackLatency.getValueAtPercentile(99);
  }

  /** The same, largest. */
  public long ackLatencyMaxMillis() {
    return ackLatency.getMaxValue();
  }

  /** All of them by metric name, in the order of the documentation. */
  public Map<String, Long> snapshot() {
    Map<String, Long> all = new LinkedHashMap<>();
    all.put("rows_written", rowsWritten());
    all.put("bytes_written", bytesWritten());
    all.put("frames_written", framesWritten());
    all.put("frames_sent", framesSent());
    all.put("frames_acked", framesAcked());
    all.put("frames_replayed", framesReplayed());
    all.put("acks_rejected", acksRejected());
    all.put("frames_dropped", framesDropped());
    all.put("frames_missing", framesMissing());
    all.put("rows_dropped", rowsDropped());
    all.put("reconnect_attempts", reconnectAttempts());
    all.put("reconnects_succeeded", reconnectsSucceeded());
    all.put("server_errors", serverErrors());
    all.put("error_notifications_dropped", errorNotificationsDropped());
    all.put("error_notifications_delivered", errorNotificationsDelivered());
    all.put("ack_latency_p50_millis", ackLatencyP50Millis());
    all.put("ack_latency_p99_millis", ackLatencyP99Millis());
    all.put("ack_latency_max_millis", ackLatencyMaxMillis());
    return all;
  }
}
