package org.questdbsf.spark;

import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.List;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** What the options must satisfy together. Each message names both sides and what to do. */
final class OptionRules {
  private static final List<SfOption> SERVER_POLICIES =
      List.of(
          SfOption.ON_SCHEMA_ERROR,
          SfOption.ON_PARSE_ERROR,
          SfOption.ON_SECURITY_ERROR,
          SfOption.ON_WRITE_ERROR,
          SfOption.ON_INTERNAL_ERROR,
          SfOption.ON_UNKNOWN_ERROR,
          SfOption.ON_SERVER_ERROR);

  private OptionRules() {}

  /** What holds for streams and batch writes alike. */
  static void check(SfOptions options) {
    where(options);
    table(options);
    slots(options);
    deadLetters(options);
    zone(options);
    for (SfOption option : SfOption.values()) {
      checkReach(options, option);
    }
  }

  /** What a stream needs besides. */
  static void checkStream(SfOptions options) {
    if (!options.isSet(SfOption.TIMESTAMP) && !options.on(SfOption.SERVER_TIMESTAMP)) {
      throw missing(
          "timestamp is not set; name the column of the designated timestamp. Without it rows that"
              + " are sent again get another time and cannot be told from new ones: if that is"
              + " acceptable, set server_timestamp=on.");
    }
  }

  /** What a batch write needs besides. */
  static void checkBatch(SfOptions options) {
    for (SfOption option : SfOption.values()) {
      if (option.where() == SfOption.Where.STREAM && options.isSet(option)) {
        throw conflict(option + " has an effect on a stream only; drop it from the batch write.");
      }
    }
    boolean slots =
        options.commitOn() == CommitOn.STORE
            || options.isSet(SfOption.SF_DIR) && !options.is(SfOption.DRAIN_ORPHANS, "off");
    if (slots && !options.isSet(SfOption.SENDER_ID)) {
      throw missing(
          "sender_id is not set; a batch write with sf_dir needs it, so that a later run finds the"
              + " slots of an earlier one. Choose a name for all runs, for example"
              + " sender_id=nightly_load.");
    }
  }

  private static void where(SfOptions options) {
    if (!options.isSet(SfOption.ADDR)) {
      throw missing("addr is not set; give the server, for example addr=host:9000.");
    }
  }

  private static void table(SfOptions options) {
    boolean table = options.isSet(SfOption.TABLE);
    boolean column = options.isSet(SfOption.TABLE_COLUMN);
    if (!table && !column) {
      throw missing("table is not set; name the table, or the column that does (table_column).");
    }
    if (table && column) {
      throw conflict("table and table_column are both set; keep one.");
    }
    if (options.isSet(SfOption.TIMESTAMP) && options.on(SfOption.SERVER_TIMESTAMP)) {
      throw conflict(
          "timestamp is set and server_timestamp is on; a row has one designated timestamp, keep"
              + " one.");
    }
  }

  private static void slots(SfOptions options) {
    boolean dir = options.isSet(SfOption.SF_DIR);
    if (dir && !Path.of(options.word(SfOption.SF_DIR)).isAbsolute()) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "sf_dir="
              + options.word(SfOption.SF_DIR)
              + " is no absolute path; give one: executors have working directories of their own,"
              + " which a cluster manager deletes.");
    }
    if (dir && !options.isSet(SfOption.COMMIT_ON)) {
      throw missing(
          "sf_dir is set without commit_on; say which. commit_on=ack: "
              + CommitOn.ACK.meaning()
              + " (sf_dir then only sends what earlier runs left there). commit_on=store: "
              + CommitOn.STORE.meaning()
              + ".");
    }
    if (!dir && options.commitOn() == CommitOn.STORE) {
      throw missing(
          "commit_on=store needs sf_dir, a directory on a local disk of each executor that outlives"
              + " it.");
    }
  }

  private static void deadLetters(SfOptions options) {
    if (options.isSet(SfOption.DEAD_LETTER_DIR)) {
      return;
    }
    if (options.is(SfOption.ON_ROW_ERROR, "dead_letter")) {
      throw missing("on_row_error=dead_letter needs dead_letter_dir.");
    }
    for (SfOption policy : SERVER_POLICIES) {
      if (options.is(policy, "drop")) {
        throw missing(
            policy + "=drop needs dead_letter_dir: nothing is dropped that is not kept there.");
      }
    }
  }

  private static void zone(SfOptions options) {
    String zone = options.word(SfOption.NTZ_ZONE);
    try {
      ZoneId.of(zone);
    } catch (DateTimeException e) {
      throw new SfException(
          ErrorCode.CONFIG_INVALID_VALUE,
          "ntz_zone=" + zone + " is not a zone; give a name such as Europe/Paris, or UTC.",
          e);
    }
  }

  private static void checkReach(SfOptions options, SfOption option) {
    if (!options.isSet(option)) {
      return;
    }
    switch (option.where()) {
      case STORE -> {
        if (options.commitOn() != CommitOn.STORE) {
          throw conflict(
              option
                  + " is set with commit_on="
                  + options.commitOn().word()
                  + ", where it has no effect; drop it, or choose commit_on=store.");
        }
      }
      case SF_DIR -> {
        if (!options.isSet(SfOption.SF_DIR)) {
          throw conflict(option + " is set without sf_dir, where it has no effect; drop it.");
        }
      }
      case CREATE_TABLE -> {
        if (!options.createsTable()) {
          throw conflict(
              option
                  + " is set, but tables are not created here; drop it, or set create_table=on.");
        }
      }
      default -> {
        // Everywhere, or only known once Spark says whether it is a stream.
      }
    }
  }

  static SfException missing(String message) {
    return new SfException(ErrorCode.CONFIG_MISSING, message);
  }

  static SfException conflict(String message) {
    return new SfException(ErrorCode.CONFIG_CONFLICT, message);
  }
}
