package org.questdbsf.sender;

/**
 * Receives what went wrong between this sender and its server. Called one error at a time for a
 * sender, on a thread of the engine, never on the producer's or the send loop's: it may be slow
 * (errors that do not fit the inbox meanwhile are dropped, oldest first, and counted) and may close
 * the sender. What it throws is logged.
 */
@FunctionalInterface
public interface SenderErrorHandler {
  /** Called once for each error that was not dropped from the inbox. */
  void onError(SenderError error);
}
