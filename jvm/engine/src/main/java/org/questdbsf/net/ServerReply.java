package org.questdbsf.net;

import java.util.List;

/** A message from the server (specification, section on replies). */
public sealed interface ServerReply {

  /**
   * All frames of this connection up to {@code sequence} are in the server's WAL: cumulative.
   *
   * @param sequence index of a frame on this connection, from 0; not checked against what was sent
   * @param tables the tables written since the last one, with their transactions
   */
  record Ok(long sequence, List<TableTxn> tables) implements ServerReply {}

  /**
   * What is durable, cumulative per table.
   *
   * @param tables highest durable transaction of each table named
   */
  record DurableAck(List<TableTxn> tables) implements ServerReply {}

  /**
   * The frame {@code sequence} was refused, and nothing after it was looked at.
   *
   * @param status the status byte, 0 to 255
   * @param sequence index of the refused frame on this connection; says nothing about earlier ones
   * @param words the server's, to be judged and never shown; may be empty
   * @param message the same, fit to be shown
   */
  record Nack(int status, long sequence, String words, String message) implements ServerReply {}
}
