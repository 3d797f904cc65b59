package org.questdbsf.sender;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.questdbsf.qwp.QwpType;

/** Writes a {@link TableSpec} into the lines of {@code .target}, and reads it back. */
final class TableSpecText {
  private TableSpecText() {}

  static void write(TableSpec spec, String prefix, Map<String, String> map) {
    map.put(prefix + "name", spec.table());
    List<String> columns = new ArrayList<>();
    for (TableSpec.Column column : spec.columns()) {
      columns.add(encode(column.name()) + ":" + column.type() + ":" + encode(column.sqlType()));
    }
    map.put(prefix + "columns", String.join(",", columns));
    if (spec.designatedType() != null) {
      map.put(prefix + "designated", spec.designatedType().name());
    }
    if (spec.createDdl() != null) {
      map.put(prefix + "ddl", spec.createDdl());
    }
    map.put(prefix + "dedup_keys", list(spec.dedupKeys()));
    map.put(prefix + "require_dedup", Boolean.toString(spec.requireDedup()));
    map.put(prefix + "update_keys", list(spec.updateKeys()));
    map.put(prefix + "on_missing", spec.onMissing().name());
  }

  static TableSpec read(String prefix, Map<String, String> map) {
    List<TableSpec.Column> columns = new ArrayList<>();
    for (String part : parts(SlotTarget.needed(map, prefix + "columns"))) {
      String[] fields = part.split(":");
      if (fields.length != 3) {
        throw new IllegalArgumentException(prefix + "columns has the entry '" + part + "'");
      }
      columns.add(
          new TableSpec.Column(decode(fields[0]), QwpType.valueOf(fields[1]), decode(fields[2])));
    }
    String designated = map.get(prefix + "designated");
    return new TableSpec(
        SlotTarget.needed(map, prefix + "name"),
        columns,
        designated == null ? null : QwpType.valueOf(designated),
        map.get(prefix + "ddl"),
        names(SlotTarget.needed(map, prefix + "dedup_keys")),
        Boolean.parseBoolean(SlotTarget.needed(map, prefix + "require_dedup")),
        names(SlotTarget.needed(map, prefix + "update_keys")),
        OnMissingTable.valueOf(SlotTarget.needed(map, prefix + "on_missing")));
  }

  private static String list(List<String> names) {
    return String.join(",", names.stream().map(TableSpecText::encode).toList());
  }

  private static List<String> names(String text) {
    return parts(text).stream().map(TableSpecText::decode).toList();
  }

  private static List<String> parts(String text) {
    return text.isEmpty() ? List.of() : List.of(text.split(",", -1));
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
