package org.questdbsf.hostile;

import java.util.List;
import java.util.stream.Stream;
import org.questdbsf.error.ErrorCode;

/**
 * One way to misbehave.
 *
 * @param name for people; arguments of {@link Hostile} are parts of names
 * @param end how it has to end
 * @param error of a {@link End#TERMINAL} one
 * @param connection what the server does on each connection for frames
 * @param sql what it does on each request for SQL
 */
record Mode(String name, End end, ErrorCode error, Script connection, Script sql) {
  /** How the sender has to answer. */
  enum End {
    /** The connection is given up, and another one made, again and again. */
    AGAIN,
    /** Rows are acknowledged as if nothing was the matter. */
    TAKEN,
    /** The sender ends with an error. */
    TERMINAL
  }

  /** What is done on one connection. */
  @FunctionalInterface
  interface Script {
    void serve(Conversation peer) throws Exception;
  }

  static Mode again(String name, Script connection) {
    return new Mode(name, End.AGAIN, null, connection, Conversation::refuseSql);
  }

  static Mode taken(String name, Script connection) {
    return new Mode(name, End.TAKEN, null, connection, Conversation::refuseSql);
  }

  static Mode terminal(String name, ErrorCode error, Script connection) {
    return new Mode(name, End.TERMINAL, error, connection, Conversation::refuseSql);
  }

  Mode withSql(Script script) {
    return new Mode(name, end, error, connection, script);
  }

  /** Every mode there is. */
  static List<Mode> all() {
    return Stream.of(
            HandshakeModes.all(),
            FrameModes.all(),
            CloseModes.all(),
            ReplyModes.all(),
            SilenceModes.all(),
            FloodModes.all(),
            SqlModes.all())
        .flatMap(List::stream)
        .toList();
  }
}
