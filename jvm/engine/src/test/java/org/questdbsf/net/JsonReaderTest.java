package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.net.JsonReader.MalformedJsonException;

class JsonReaderTest {

  @Test
  void readsEveryKindOfValue() throws Exception {
    Map<String, Object> expected = new LinkedHashMap<>();
    expected.put("s", "a\"\\/\b\f\n\r\té\u20ac\ud83d\ude00");
    expected.put(
        "n", Arrays.asList(0L, -1L, Long.MAX_VALUE, Long.MIN_VALUE, 1.5, -2e10, 0.25, 1e-3));
    expected.put("b", Arrays.asList(true, false, null));
    expected.put("e", List.of());
    expected.put("o", Map.of());
    assertEquals(
        expected,
        JsonReader.read(
            " {\"s\":\"a\\\"\\\\\\/\\b\\f\\n\\r\\té\\u20AC\\uD83D\\uDE00\", \"n\" : [0,-1,"
                + "9223372036854775807,-9223372036854775808,1.5,-2e10,25E-2,1e-3],\n"
                + "\"b\":[true,false,null],\"e\":[ ],\"o\":{ }} "));
    assertEquals(9.223372036854775808e18, JsonReader.read("9223372036854775808"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1,\"a\":2}",
        "01",
        "1.",
        ".5",
        "-",
        "+1",
        "1e",
        "1e+",
        "0x1",
        "NaN",
        "Infinity",
        "tru",
        "nul",
        "True",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00x\"",
        "\"a\nb\"",
        "1 2",
        "[1]]",
        "//x\n1",
        "1,",
        "\"\\",
        "\u00a01",
      })
  void refusesWhatIsNotJson(String text) {
    MalformedJsonException e =
        assertThrows(MalformedJsonException.class, () -> JsonReader.read(text));
    assertTrue(e.getMessage().contains("at character "), e.getMessage());
  }

  @Test
  void boundsTheDepth() throws Exception {
    JsonReader.read("[".repeat(64) + "]".repeat(64));
    assertThrows(
        MalformedJsonException.class, () -> JsonReader.read("[".repeat(65) + "]".repeat(65)));
    assertThrows(MalformedJsonException.class, () -> JsonReader.read("[".repeat(1_000_000)));
  }

  @Test
  void readsBackWhatWasWrittenAndRefusesItsTruncations() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 300; i++) {
      Object value = Map.of("x", value(random, 4));
      StringBuilder text = new StringBuilder();
      write(value, text, random);
      assertEquals(value, JsonReader.read(text.toString()), "seed " + seed);
      int cut = random.nextInt(text.toString().stripTrailing().length());
      String part = text.substring(0, cut);
      assertThrows(MalformedJsonException.class, () -> JsonReader.read(part), "seed " + seed);
    }
  }

  private static Object value(Random random, int depth) {
    switch (random.nextInt(depth > 0 ? 6 : 4)) {
      case 0:
        return random.nextLong();
      case 1:
        return random.nextGaussian();
      case 2:
        return random.nextBoolean();
      case 3:
        StringBuilder s = new StringBuilder();
        for (int n = random.nextInt(8); n > 0; n--) {
          s.appendCodePoint(random.nextInt(4) == 0 ? 0x1f600 : 1 + random.nextInt(0x400));
        }
        return s.toString();
      case 4:
        List<Object> list = new ArrayList<>();
        for (int n = random.nextInt(4); n > 0; n--) {
          list.add(value(random, depth - 1));
        }
        return list;
      default:
        Map<String, Object> map = new LinkedHashMap<>();
        for (int n = random.nextInt(4); n > 0; n--) {
          map.put("k" + n, random.nextInt(5) == 0 ? null : value(random, depth - 1));
        }
        return map;
    }
  }

  private static void write(Object value, StringBuilder out, Random random) {
    String space = random.nextInt(5) == 0 ? " \n" : "";
    if (value instanceof Map<?, ?> map) {
      out.append('{').append(space);
      String comma = "";
      for (Map.Entry<?, ?> e : map.entrySet()) {
        out.append(comma);
        write(e.getKey(), out, random);
        out.append(':');
        write(e.getValue(), out, random);
        comma = ",";
      }
      out.append('}');
    } else if (value instanceof List<?> list) {
      out.append('[').append(space);
      String comma = "";
      for (Object o : list) {
        out.append(comma);
        write(o, out, random);
        comma = "," + space;
      }
      out.append(']');
    } else if (value instanceof String s) {
      out.append('"');
      for (char c : s.toCharArray()) {
        if (c < ' ' || c == '"' || c == '\\' || random.nextInt(6) == 0) {
          out.append(String.format("\\u%04x", (int) c));
        } else {
          out.append(c);
        }
      }
      out.append('"');
    } else {
      out.append(value);
    }
    out.append(space);
  }
}
