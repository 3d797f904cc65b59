package org.questdbsf.sender;

import java.util.List;

/**
 * What an error frame means for the frame that it refuses: whether sending it again can help.
 * Judged by its status and by how its text begins. The rest of a text holds names of users' tables
 * and columns and is not looked at.
 *
 * @param hope whether sending it again can help
 * @param advice what to do, as a sentence; empty where the server's words say enough
 */
record Refusal(Hope hope, String advice) {
  /** Whether sending the frame again can help. */
  enum Hope {
    /** It is about this connection: the next one takes the frame, whatever the policy is. */
    NEW_CONNECTION,
    /** It is about the server at the moment: it passes. */
    PASSING,
    /** Nobody knows. */
    UNCLEAR,
    /** The same bytes will be refused until somebody changes the table or the server. */
    NONE
  }

  /** A text that servers are known to answer. */
  private record Known(Category category, String beginning, Refusal meaning) {}

  private static final Refusal PASSING = new Refusal(Hope.PASSING, "");
  private static final Refusal UNCLEAR = new Refusal(Hope.UNCLEAR, "");
  private static final Refusal FINAL = new Refusal(Hope.NONE, "");
  private static final Refusal NEW_CONNECTION = new Refusal(Hope.NEW_CONNECTION, "");

  private static final List<Known> KNOWN =
      List.of(
          new Known(
              Category.INTERNAL_ERROR,
              "failed to create table update details for: ",
              hopeless(
                  "Either it is a view; or it is not there, and the server may not create it"
                      + " (line.auto.create.new.tables) or the name of the table or of a column is"
                      + " invalid. Create it, or write to a table.")),
          new Known(
              Category.SCHEMA_MISMATCH,
              "cannot insert into non-WAL table: ",
              hopeless(
                  "Only WAL tables take rows this way: ALTER TABLE … SET TYPE WAL and a restart of"
                      + " the server, or CREATE TABLE … TIMESTAMP(…) PARTITION BY … WAL.")),
          new Known(
              Category.SCHEMA_MISMATCH,
              "new columns not allowed [",
              hopeless(
                  "Add the column by ALTER TABLE, or have the server do it"
                      + " (line.auto.create.new.columns).")),
          new Known(
              Category.SCHEMA_MISMATCH, "invalid column name [", hopeless("Rename the column.")),
          new Known(
              Category.SECURITY_ERROR,
              "replica access is read-only",
              hopeless("This server takes no writes (readonly=true); name another in addr.")),
          new Known(Category.WRITE_ERROR, "designated timestamp", FINAL),
          new Known(Category.WRITE_ERROR, "invalid GeoHash column type: ", FINAL),
          new Known(Category.WRITE_ERROR, "cannot convert invalid UTF-8 sequence", FINAL),
          new Known(
              Category.INTERNAL_ERROR,
              "commit error: cached query plan cannot be used because table schema has changed [",
              NEW_CONNECTION),
          new Known(Category.WRITE_ERROR, "too many distinct tables, limit: ", NEW_CONNECTION),
          new Known(Category.INTERNAL_ERROR, "No space left", PASSING),
          new Known(Category.WRITE_ERROR, "No space left", PASSING),
          new Known(Category.INTERNAL_ERROR, "could not ", PASSING),
          new Known(Category.WRITE_ERROR, "global RSS memory limit exceeded [", PASSING),
          new Known(Category.WRITE_ERROR, "metadata changed too many times", PASSING),
          new Known(Category.WRITE_ERROR, "replica access is read-only", PASSING),
          new Known(Category.WRITE_ERROR, "table busy [", PASSING),
          new Known(Category.WRITE_ERROR, "table is dropped [", PASSING));

  /** The meaning of an error frame of this category with this text. */
  static Refusal of(Category category, String text) {
    for (Known known : KNOWN) {
      if (known.category == category && text.startsWith(known.beginning)) {
        return known.meaning;
      }
    }
    return switch (category) {
      case SCHEMA_MISMATCH, PARSE_ERROR, SECURITY_ERROR -> FINAL;
      case NOT_WRITABLE -> PASSING;
      // A connection begins with the whole dictionary.
      case DICTIONARY_GAP -> NEW_CONNECTION;
      default -> UNCLEAR;
    };
  }

  /** The server's words, and what to do about them. */
  String explain(String text) {
    return advice.isEmpty() ? text : text + ". " + advice;
  }

  private static Refusal hopeless(String advice) {
    return new Refusal(Hope.NONE, advice);
  }
}
