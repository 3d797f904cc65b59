package org.questdbsf.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.questdbsf.sender.ValueType;

/**
 * The tables of options and metrics for Python: {@code _tables.json}, which the checks there read,
 * and the fields of {@code SinkOptions}. Written with the reference pages.
 */
final class PythonTables {
  private static final String DIRECTORY = "python/src/questdb_sf/spark/";
  private static final int WIDTH = 100;

  private PythonTables() {}

  /** Content by path in the repository. */
  static Map<String, String> files() {
    return Map.of(DIRECTORY + "_tables.json", json(), DIRECTORY + "_fields.py", fields());
  }

  private static String json() {
    List<String> options = new ArrayList<>();
    for (SfOption option : SfOption.values()) {
      ValueType type = option.type();
      JsonObject words = new JsonObject();
      type.accepted().forEach(word -> words.put(word, (String) type.parse(option.key(), word)));
      List<String> aliases =
          option.connectKey().map(key -> key.aliases()).orElse(List.of()).stream().toList();
      options.add(
          new JsonObject()
              .put("key", option.key())
              .put("aliases", String.join(",", aliases))
              .put("kind", type.kind().name())
              .put("min", type.min())
              .put("max", type.max())
              .put("words", words)
              .put("takes", type.describe())
              .put("default", option.defaultValue())
              .put("where", option.where().name())
              .put("doc", option.doc())
              .toString());
    }
    List<String> metrics = new ArrayList<>();
    for (SfMetric metric : SfMetric.values()) {
      metrics.add(
          new JsonObject()
              .put("key", metric.key())
              .put("unit", metric.unit())
              .put("kind", metric.kind().name())
              .put("doc", metric.doc())
              .toString());
    }
    return "{\"options\": [\n"
        + String.join(",\n", options)
        + "\n],\n\"metrics\": [\n"
        + String.join(",\n", metrics)
        + "\n]}\n";
  }

  private static String fields() {
    StringBuilder source =
        new StringBuilder(
            """
            \"\"\"The fields of SinkOptions and of Counters. Made from the JVM's tables by `make reference`: change them there.\"\"\"

            from __future__ import annotations

            import os
            from collections.abc import Sequence
            from dataclasses import dataclass
            from typing import Literal


            @dataclass(frozen=True, kw_only=True, repr=False)
            class OptionFields:
                \"\"\"One field an option of the sink; ``None`` leaves it at its default.\"\"\"
            """);
    for (SfOption option : SfOption.values()) {
      String reach =
          switch (option.where()) {
            case ANY -> "";
            case STREAM -> " Streams only.";
            case STORE -> " Only with commit_on=store.";
            case SF_DIR -> " Only with sf_dir.";
            case CREATE_TABLE -> " Only with create_table or on_missing_table=create.";
          };
      String byDefault =
          option.defaultValue() == null ? "" : " Default: " + option.defaultValue() + ".";
      field(source, option.key(), type(option.type()) + " | None = None");
      doc(source, option.doc() + reach + byDefault);
    }
    source.append(
        """


        @dataclass(frozen=True, kw_only=True)
        class MetricFields:
            \"\"\"One field a counter or gauge of the sink.\"\"\"
        """);
    for (SfMetric metric : SfMetric.values()) {
      field(source, metric.key(), "int = 0");
      doc(source, metric.doc() + " (" + metric.unit() + ")");
    }
    return source.toString();
  }

  private static void field(StringBuilder source, String name, String declared) {
    source.append("\n    ").append(name).append(": ").append(declared).append('\n');
  }

  /** A docstring, wrapped so that neither linter nor formatter has anything to do. */
  private static void doc(StringBuilder source, String text) {
    String escaped = text.replace("\\", "\\\\");
    String closing = escaped.endsWith("\"") ? " \"\"\"" : "\"\"\"";
    StringBuilder line = new StringBuilder("    \"\"\"");
    for (String word : escaped.split(" ")) {
      boolean first = line.toString().isBlank() || line.toString().equals("    \"\"\"");
      if (!first && line.length() + 1 + word.length() + closing.length() > WIDTH) {
        source.append(line).append('\n');
        line = new StringBuilder("    ");
        first = true;
      }
      line.append(first ? "" : " ").append(word);
    }
    boolean several = !line.toString().startsWith("    \"\"\"");
    source.append(line).append(several ? "\n    \"\"\"\n" : closing + "\n");
  }

  private static String type(ValueType type) {
    return switch (type.kind()) {
      case BOOL -> "bool";
      case INT, MILLIS -> "int";
      case SIZE -> "int | str";
      case ENUM -> "Literal[\"" + String.join("\", \"", type.accepted()) + "\"]";
      case LIST -> "str | Sequence[str]";
      case PATH -> "str | os.PathLike[str]";
      case STRING, SECRET -> "str";
      default -> throw new IllegalArgumentException("no option is a " + type.kind());
    };
  }
}
