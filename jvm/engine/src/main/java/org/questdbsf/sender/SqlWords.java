package org.questdbsf.sender;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.questdbsf.net.SqlFailure;

/**
 * Reads what a server says when it refuses SQL. It is judged by its HTTP status and by how the text
 * begins: the rest of it holds names of users' tables and columns.
 */
final class SqlWords {
  private static final int BAD_REQUEST = 400;

  /** Not allowed, or no such service. */
  private static final Set<Integer> DENIED = Set.of(403, 404, 405);

  /** What may stand before the reason; the number is that of the server's system. */
  private static final Pattern BEFORE =
      Pattern.compile("^(Could not create table, )?(\\[-?\\d+]: )?");

  /** How texts begin that speak of the moment, not of the statement. */
  private static final List<String> PASSING =
      List.of(
          "No space left",
          "cancelled by user",
          "could not lock",
          "could not mmap",
          "could not open",
          "could not remap",
          "global RSS memory limit exceeded",
          "query memory limit exceeded",
          "resource is busy",
          "sun.misc.Unsafe.", // out of memory
          "table busy",
          "timeout, query aborted");

  private SqlWords() {}

  /** The server's words with its HTTP status, or ours where it said nothing. */
  static String of(SqlFailure e) {
    String said = e.serverMessage() == null ? e.getMessage() : e.serverMessage();
    return e.httpStatus() == 0 ? said : "HTTP " + e.httpStatus() + ", " + said;
  }

  /** Whether the statement itself is refused: asking again will not help. */
  static boolean isFinal(SqlFailure e) {
    String reason = BEFORE.matcher(judged(e)).replaceFirst("");
    return e.httpStatus() == BAD_REQUEST && PASSING.stream().noneMatch(reason::startsWith);
  }

  /** Whether the user may not do this here, or nobody may: asking again will not help. */
  static boolean isDenied(SqlFailure e) {
    return DENIED.contains(e.httpStatus());
  }

  /** Whether there is no table of the name that was asked for. */
  static boolean saysMissing(SqlFailure e) {
    return judged(e).startsWith("table does not exist");
  }

  private static String judged(SqlFailure e) {
    return e.words() == null ? e.getMessage() : e.words();
  }
}
