package org.questdbsf.sender;

import java.util.List;
import java.util.Locale;
import org.questdbsf.net.SqlFailure;

/** Reads what a server says when it refuses SQL. */
final class SqlWords {
  private static final List<String> PASSING =
      List.of("busy", "lock", "space", "timeout", "retry", "memory");

  private SqlWords() {}

  /** The server's words with its HTTP status, or ours where it said nothing. */
  static String of(SqlFailure e) {
    String said = e.serverMessage() == null ? e.getMessage() : e.serverMessage();
    return e.httpStatus() == 0 ? said : "HTTP " + e.httpStatus() + ", " + said;
  }

  /** Whether the statement itself is refused: asking again will not help. */
  static boolean isFinal(SqlFailure e) {
    String words = of(e).toLowerCase(Locale.ROOT);
    return e.httpStatus() == 400 && PASSING.stream().noneMatch(words::contains);
  }
}
