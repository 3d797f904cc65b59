package org.questdbsf.testserver;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.questdbsf.qwp.QwpType;

/**
 * A message written byte by byte, for what the product's encoder refuses. Blocks in order, and the
 * columns of the last block with their values, 8 bytes each, none null.
 */
final class RawMessage {
  private static final int DELTA = 0x08;

  private record Column(byte[] name, QwpType type, byte[] values) {}

  private record Block(byte[] name, int rows, List<Column> columns) {}

  private final List<Block> blocks = new ArrayList<>();
  private int symbolsFrom;
  private int symbols;

  /** The id of the first symbol; 0 if nothing else is said. */
  RawMessage symbolsFrom(int id) {
    symbolsFrom = id;
    return this;
  }

  /** So many empty symbols. */
  RawMessage symbols(int count) {
    symbols = count;
    return this;
  }

  RawMessage block(String name, int rows) {
    blocks.add(new Block(name.getBytes(StandardCharsets.UTF_8), rows, new ArrayList<>()));
    return this;
  }

  /** A column of 8-byte values. */
  RawMessage column(String name, QwpType type, long... values) {
    ByteBuffer data =
        ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    data.asLongBuffer().put(values);
    return column(name, type, data.array());
  }

  RawMessage column(String name, QwpType type, byte[] values) {
    blocks
        .get(blocks.size() - 1)
        .columns
        .add(new Column(name.getBytes(StandardCharsets.UTF_8), type, values));
    return this;
  }

  byte[] bytes() {
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    varint(payload, symbolsFrom);
    varint(payload, symbols);
    payload.writeBytes(new byte[symbols]);
    for (Block block : blocks) {
      text(payload, block.name);
      varint(payload, block.rows);
      varint(payload, block.columns.size());
      for (Column column : block.columns) {
        text(payload, column.name);
        payload.write(column.type.code());
      }
      for (Column column : block.columns) {
        payload.write(0);
        payload.writeBytes(column.values);
      }
    }
    ByteBuffer message = ByteBuffer.allocate(12 + payload.size()).order(ByteOrder.LITTLE_ENDIAN);
    message.put("QWP1".getBytes(StandardCharsets.US_ASCII)).put((byte) 1).put((byte) DELTA);
    message.putShort((short) blocks.size()).putInt(payload.size()).put(payload.toByteArray());
    return message.array();
  }

  private static void text(ByteArrayOutputStream out, byte[] utf8) {
    varint(out, utf8.length);
    out.writeBytes(utf8);
  }

  private static void varint(ByteArrayOutputStream out, int value) {
    int rest = value;
    for (; rest > 0x7F; rest >>>= 7) {
      out.write(rest & 0x7F | 0x80);
    }
    out.write(rest);
  }
}
