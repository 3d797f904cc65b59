package org.questdbsf.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.sender.ConfigPreset;
import org.questdbsf.sender.ConnectKey;
import org.questdbsf.sender.ValueType;

/**
 * Makes the tables for Python ({@link PythonTables}) and the pages {@code options.md}, {@code
 * metrics.md} and {@code errors.md} from the tables in code: {@code make reference}. A test fails
 * when they are not what this would write.
 */
public final class ReferencePages {
  private static final String NOTE =
      "<!-- Made from the code by `make reference`: change it there. -->\n\n";
  private static final Map<SfOption, String> GROUPS = new LinkedHashMap<>();
  private static final Map<ErrorCode, String> ERROR_GROUPS = new LinkedHashMap<>();

  static {
    GROUPS.put(SfOption.CONNECT_STRING, "Where the rows go");
    GROUPS.put(SfOption.TABLE, "What is written");
    GROUPS.put(SfOption.CREATE_TABLE, "Tables");
    GROUPS.put(SfOption.COMMIT_ON, "Delivery");
    GROUPS.put(SfOption.ON_SCHEMA_ERROR, "Rejections");
    GROUPS.put(SfOption.CONNECT_TIMEOUT, "Connection");
    ERROR_GROUPS.put(ErrorCode.CONFIG_UNKNOWN_KEY, "Settings");
    ERROR_GROUPS.put(ErrorCode.NAME_INVALID, "Rows");
    ERROR_GROUPS.put(ErrorCode.SLOT_LOCKED, "Slots and disks");
    ERROR_GROUPS.put(ErrorCode.CONNECT_FAILED, "Servers");
    ERROR_GROUPS.put(ErrorCode.TABLE_MISSING, "Tables");
    ERROR_GROUPS.put(ErrorCode.SENDER_CLOSED, "Everything else");
  }

  private ReferencePages() {}

  /** Writes the pages into the repository that the one argument names. */
  public static void main(String[] args) throws IOException {
    for (Map.Entry<String, String> page : pages().entrySet()) {
      Files.writeString(Path.of(args[0], page.getKey()), page.getValue());
    }
  }

  /** Content by path in the repository. */
  static Map<String, String> pages() {
    Map<String, String> pages = new LinkedHashMap<>(PythonTables.files());
    pages.put("docs/options.md", options());
    pages.put("docs/metrics.md", metrics());
    pages.put("docs/errors.md", errors());
    return pages;
  }

  private static String options() {
    StringBuilder page = new StringBuilder("# Options\n\n").append(NOTE);
    page.append(
        """
        Options of `format("questdb-sf")`. Each may also be a key of `connect_string`; the same
        option with two values is an error, and so is one that does not exist or has no effect
        beside the others. Case does not matter. Switches take on and off, or true and false.
        Sizes take bytes or a whole number with k, m, g or t (1024-based). Lists are separated by
        commas. Secrets take a literal, `${env:NAME}` or `${file:/path}`; the latter two are
        resolved on the executor at each connect, so that a changed secret needs no restart.
        """);
    for (SfOption option : SfOption.values()) {
      if (GROUPS.containsKey(option)) {
        page.append("\n## ").append(GROUPS.get(option)).append("\n\n");
        page.append("| option | value | default | what it does |\n|---|---|---|---|\n");
      }
      String alias =
          option.connectKey().stream()
              .flatMap(key -> key.aliases().stream())
              .map(name -> ", `" + name + "`")
              .reduce("", String::concat);
      row(
          page,
          "`" + option.key() + "`" + alias,
          value(option.type()),
          option.defaultValue() == null ? "–" : "`" + option.defaultValue() + "`",
          option.doc() + reach(option.where()));
    }
    page.append(
        """

        ## Keys of the plain `Sender`

        The engine can be used without Spark. A connect string for `Sender` has these keys;
        defaults differ in places from those of the sink.

        | key | value | default | what it does |
        |---|---|---|---|
        """);
    for (ConnectKey key : ConnectKey.values()) {
      String alias =
          key.aliases().stream().map(name -> ", `" + name + "`").reduce("", String::concat);
      String byDefault = key.defaultText(ConfigPreset.ENGINE);
      row(
          page,
          "`" + key.key() + "`" + alias,
          value(key.type()),
          byDefault == null ? "–" : "`" + byDefault + "`",
          key.doc());
    }
    return page.toString();
  }

  private static String value(ValueType type) {
    return switch (type.kind()) {
      case BOOL -> "switch";
      case INT -> "number" + range(type, Integer.MIN_VALUE, Integer.MAX_VALUE);
      case MILLIS -> "milliseconds" + range(type, Integer.MIN_VALUE, Integer.MAX_VALUE);
      case SIZE -> "size" + range(type, 0, Long.MAX_VALUE);
      case ENUM -> "`" + String.join("`, `", type.accepted()) + "`";
      case LIST -> "list";
      case STRING -> "text";
      case PATH -> "path";
      case SECRET -> "secret";
      case INT_OR_OFF -> "number or `off`";
      case SIZE_OR_OFF -> "size or `off`";
      case MILLIS_OR_OFF -> "milliseconds or `off`";
    };
  }

  private static String range(ValueType type, long low, long high) {
    if (type.min() > low && type.max() < high) {
      return ", " + type.min() + " to " + type.max();
    }
    return type.min() > low ? ", at least " + type.min() : "";
  }

  private static String reach(SfOption.Where where) {
    return switch (where) {
      case ANY -> "";
      case STREAM -> " *Streams only.*";
      case STORE -> " *Only with `commit_on=store`.*";
      case SF_DIR -> " *Only with `sf_dir`.*";
      case CREATE_TABLE -> " *Only with `create_table=on` or `on_missing_table=create`.*";
    };
  }

  private static String metrics() {
    StringBuilder page = new StringBuilder("# Metrics\n\n").append(NOTE);
    page.append(
        """
        Counters grow within a run of a query; gauges say how it is now. All of them are in the
        query's progress (`query.lastProgress["sink"]["metrics"]`), as text, together with
        `health`: `ok`, or what the executor that does worst says (reconnecting, rejecting,
        unanswered, backpressure, failed, since when and why). Where a SQL tab is named, they show
        there and in Spark's REST API as well. Over executors counters and gauges are added up; of
        milliseconds and of `suspended_tables` the highest is shown, and of `failed_slots` and
        `stranded_slots` the highest of each host. With speculation, what a task counted that ended
        second is missing where Spark ignored its result. What to alert on:
        [operating](operating.md).

        | metric | unit | kind | where | what |
        |---|---|---|---|---|
        """);
    for (SfMetric metric : SfMetric.values()) {
      row(
          page,
          "`" + metric.key() + "`",
          metric.unit(),
          metric.kind().name().toLowerCase(java.util.Locale.ROOT),
          metric.seen() == SfMetric.Seen.BOTH ? "progress, SQL tab" : "progress",
          metric.doc());
    }
    page.append(
        """

        `suspended_tables` is as of the last look at the tables: before a frame, once in a second
        where frames follow each other, at once after a pause of 100 ms. What was suspended or resumed
        when the last row had gone shows with the next one. A lane that closes, 10 s after its last row,
        counts no more, and on the driver what an executor said holds for a minute: 0 where no rows
        flow does not say that no table is suspended; `wal_tables()` does.

        Spark's own `recordsWritten` and `bytesWritten` are filled too. While rows wait in slots
        the progress also has `undelivered_rows_by_slot`: host and slot, and how many rows wait
        there as far as tasks have said.
        """);
    return page.toString();
  }

  private static String errors() {
    StringBuilder page = new StringBuilder("# Errors\n\n").append(NOTE);
    page.append(
        """
        Every error begins with one of these codes, then says what went wrong, the value, where
        (table, column, slot, segment, offset, frame number) and what to do next. A code never
        changes its meaning. In PySpark the code is in the text of the exception that ends a query
        or a write. Messages never hold a secret or a password.
        """);
    for (ErrorCode code : ErrorCode.values()) {
      if (ERROR_GROUPS.containsKey(code)) {
        page.append("\n## ").append(ERROR_GROUPS.get(code)).append("\n\n");
        page.append("| code | what it means | what to do |\n|---|---|---|\n");
      }
      row(page, "`" + code + "`", code.meaning(), linked(code.advice()));
    }
    return page.toString();
  }

  /** Names of pages become links. */
  private static String linked(String text) {
    return text.replaceAll("`([a-z]+)\\.md`", "[$1]($1.md)");
  }

  private static void row(StringBuilder page, String... cells) {
    page.append('|');
    for (String cell : cells) {
      page.append(' ').append(cell.replace("|", "\\|")).append(" |");
    }
    page.append('\n');
  }
}
