package org.questdbsf.hostile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.questdbsf.net.RawServer;
import org.questdbsf.net.RawServer.Frame;
import org.questdbsf.net.TableTxn;
import org.questdbsf.qwp.ConnectionSymbols;
import org.questdbsf.qwp.DecodedColumn;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.MalformedMessageException;
import org.questdbsf.qwp.MessageDecoder;

/** One connection of the server, after the client's request was read. One thread. */
final class Conversation {
  static final String TABLE = "t";
  static final String NUMBER = "n";

  private static final int BINARY = 2;
  private static final int CLOSE = 8;
  private static final int PING = 9;
  private static final int PONG = 10;

  private final HostileServer server;
  private final RawServer.Peer peer;
  private final RawServer.Request request;
  private final MessageDecoder decoder = new MessageDecoder(new ConnectionSymbols());
  private final List<Set<Long>> messages = new ArrayList<>();
  private int answered;
  private boolean pongs = true;

  Conversation(HostileServer server, RawServer.Peer peer, RawServer.Request request) {
    this.server = server;
    this.peer = peer;
    this.request = request;
  }

  RawServer.Peer peer() {
    return peer;
  }

  RawServer.Request request() {
    return request;
  }

  /** Whether this is the first request for SQL. */
  boolean isFirstRequest() {
    return server.requests() == 1;
  }

  /** Whether the server is still to misbehave. */
  boolean goesOn() {
    return !server.isHealed();
  }

  /** The answer 101, with these header lines besides the needed ones. */
  void upgrade(String... headerLines) throws IOException {
    peer.write(RawServer.switching(request, headerLines));
  }

  /** An answer of HTTP with a body, after which the connection ends. */
  void http(String statusAndHeaders, String body) throws IOException {
    peer.write(
        "HTTP/1.1 " + statusAndHeaders + "\r\nContent-Length: " + body.length() + "\r\n\r\n");
    peer.write(body);
  }

  void refuseSql() throws IOException {
    http("404 Not Found\r\nConnection: close", "no SQL here");
  }

  void withoutPongs() {
    pongs = false;
  }

  /**
   * Waits for a message; answers PINGs meanwhile.
   *
   * @return false when the client has ended the connection
   */
  boolean next() throws IOException {
    return await(BINARY);
  }

  /** The same for a PING. */
  boolean nextPing() throws IOException {
    return await(PING);
  }

  private boolean await(int opcode) throws IOException {
    while (true) {
      Frame frame = peer.readFrame();
      if (frame == null || frame.opcode() == CLOSE) {
        return false;
      }
      if (frame.opcode() == PING && pongs) {
        peer.write(RawServer.frame(true, PONG, frame.payload()));
      }
      if (frame.opcode() == BINARY) {
        messages.add(received(frame.payload()));
      }
      if (frame.opcode() == opcode) {
        return true;
      }
    }
  }

  /** Reads, and says nothing, until the client ends the connection. */
  void listen() throws IOException {
    while (next()) {
      // not answered
    }
  }

  /** Upgrades, and waits for the first message. */
  boolean upgradedWithMessage() throws IOException {
    upgrade();
    return next();
  }

  private Set<Long> received(byte[] bytes) {
    return numbers(decoder, bytes);
  }

  /** The rows of a message. */
  static Set<Long> numbers(MessageDecoder decoder, byte[] bytes) {
    Set<Long> rows = new TreeSet<>();
    try {
      for (DecodedTable table : decoder.decode(bytes, 0, bytes.length).tables()) {
        DecodedColumn column =
            table.columns().stream().filter(c -> c.name().equals(NUMBER)).findFirst().orElseThrow();
        for (int row = 0; row < table.rows(); row++) {
          rows.add(column.getLong(row));
        }
      }
    } catch (MalformedMessageException e) {
      throw new IllegalStateException("the client sent what is no message", e);
    }
    return rows;
  }

  /** The number of the message read last. */
  long last() {
    return messages.size() - 1;
  }

  /** An OK as it should be, for all messages read; their rows are acknowledged with it. */
  void ok() throws IOException {
    peer.reply(okPayload());
  }

  byte[] okPayload() {
    long transaction = 0;
    for (; answered < messages.size(); answered++) {
      server.acknowledged(messages.get(answered));
      transaction = server.nextTransaction();
    }
    return RawServer.ok(last(), new TableTxn(TABLE, transaction));
  }

  /** An OK for all messages read which may be false; the server stands for their rows. */
  void okNaming(long sequence, TableTxn... tables) throws IOException {
    for (int i = answered; i <= Math.min(sequence, last()); i++) {
      server.acknowledged(messages.get(i));
    }
    peer.reply(RawServer.ok(sequence, tables));
  }

  /** Behaves. */
  void behave() throws IOException {
    upgrade();
    while (next()) {
      ok();
    }
  }

  /** Sends the same bytes as long as the client takes them. */
  void flood(byte[] bytes) throws IOException {
    while (goesOn()) {
      peer.write(bytes);
    }
  }
}
