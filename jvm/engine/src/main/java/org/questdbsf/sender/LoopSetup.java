package org.questdbsf.sender;

import java.time.Instant;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.slot.SegmentRing;

/**
 * What a send loop works with.
 *
 * @param name of the slot or lane
 * @param ring where the frames are; the loop is its only consumer
 * @param symbols which frames go by which dictionary
 * @param plan of what was in the ring when it was opened
 * @param deadLetters where dropped frames go, or null where they are only reported
 * @param times when frames were published
 * @param cap told of the batch caps of the servers
 * @param inbox told of errors
 */
record LoopSetup(
    String name,
    SegmentRing ring,
    SymbolEpochs symbols,
    ReplayPlan plan,
    SenderConfig config,
    PolicyDefaults defaults,
    ConnectionGate gate,
    DeadLetterSink deadLetters,
    SenderCounters counters,
    SenderStatus status,
    PublishTimes times,
    FrameCap cap,
    ErrorInbox inbox) {

  /** The end of this loop by an error made here, about all unacknowledged frames. */
  TerminalFailure failure(
      ErrorCode code, Category category, String message, String host, Throwable cause) {
    return failure(code, category, null, message, host, cause);
  }

  private TerminalFailure failure(
      ErrorCode code,
      Category category,
      String table,
      String message,
      String host,
      Throwable cause) {
    SenderError error =
        new SenderError(
            category,
            Policy.HALT,
            -1,
            -1,
            ring.ackedFsn() + 1,
            ring.publishedFsn(),
            table,
            0,
            message,
            host,
            Instant.now(),
            null);
    return new TerminalFailure(code, error, cause);
  }

  /** Something that people should know and that stops nothing. */
  SenderError notice(String message) {
    return new SenderError(
        Category.SCHEMA_MISMATCH,
        Policy.RETRY,
        -1,
        -1,
        ring.ackedFsn() + 1,
        ring.ackedFsn(),
        null,
        0,
        message,
        null,
        Instant.now(),
        null);
  }

  /** The end of the loop by a gate that will not open. */
  TerminalFailure gateClosed(GateClosed closed, String host) {
    ErrorCode code = closed.error().code();
    Category category =
        switch (code) {
          case TABLE_MISSING -> Category.TABLE_MISSING;
          case TABLE_MISMATCH -> Category.SCHEMA_MISMATCH;
          default -> Category.PROTOCOL_VIOLATION;
        };
    return failure(
        code, category, closed.table(), closed.error().getMessage(), host, closed.error());
  }
}
