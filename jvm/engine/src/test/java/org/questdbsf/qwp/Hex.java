package org.questdbsf.qwp;

import java.util.HexFormat;

/** Bytes as tests write them: hexadecimal digits, blanks and bars between them as one likes. */
final class Hex {
  private Hex() {}

  static byte[] bytes(String text) {
    return HexFormat.of().parseHex(text.replaceAll("[\\s|]", ""));
  }

  static String text(byte[] bytes, int from, int to) {
    return HexFormat.of().formatHex(bytes, from, to);
  }

  static String of(MessageEncoder message) {
    return text(message.array(), 0, message.length());
  }

  /** The same text without what {@link #bytes} allows between digits. */
  static String plain(String text) {
    return text.replaceAll("[\\s|]", "");
  }
}
