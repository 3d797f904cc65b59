package org.questdbsf.net;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the server's replies, little-endian (specification, section on replies):
 *
 * <pre>
 * OK           00 | i64 sequence | u16 n | n × (u16 length, name, i64 seqTxn)
 * durable ack  02 |                u16 n | n × (u16 length, name, i64 seqTxn)
 * error        ss | i64 sequence | u16 length | text
 * </pre>
 *
 * Strict: a short or long message, a negative sequence and an empty or ill-formed table name are
 * malformed. Only the text of an error may be ill-formed UTF-8, since servers cut it at a length.
 */
final class ReplyDecoder {
  private static final int OK = 0x00;
  private static final int DURABLE_ACK = 0x02;
  private static final int LOCAL_DURABLE_ACK = 0x0e;
  private static final int LEAST_TABLE_BYTES = 2 + 1 + 8;

  private ReplyDecoder() {}

  /** Reads one reply that fills the buffer's readable bytes. */
  static ServerReply decode(ByteBuf in) throws MalformedReplyException {
    int size = in.readableBytes();
    need(in, 1, "status");
    int status = in.readUnsignedByte();
    ServerReply reply;
    switch (status) {
      case OK -> reply = new ServerReply.Ok(readSequence(in), readTables(in));
      case DURABLE_ACK -> reply = new ServerReply.DurableAck(readTables(in));
      case LOCAL_DURABLE_ACK ->
          throw new MalformedReplyException(
              "a local durable acknowledgement (0x0e), which was not asked for");
      default -> {
        long sequence = readSequence(in);
        String words = readText(in);
        reply = new ServerReply.Nack(status, sequence, words, words);
      }
    }
    if (in.isReadable()) {
      throw new MalformedReplyException(
          in.readableBytes()
              + " bytes behind a reply of status "
              + status
              + ", "
              + size
              + " in all");
    }
    return reply;
  }

  private static long readSequence(ByteBuf in) throws MalformedReplyException {
    need(in, 8, "sequence");
    long sequence = in.readLongLE();
    if (sequence < 0) {
      throw new MalformedReplyException("sequence " + Long.toUnsignedString(sequence));
    }
    return sequence;
  }

  private static List<TableTxn> readTables(ByteBuf in) throws MalformedReplyException {
    need(in, 2, "table count");
    int count = in.readUnsignedShortLE();
    need(in, count * LEAST_TABLE_BYTES, count + " tables");
    List<TableTxn> tables = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      need(in, 2, "length of a table name");
      int length = in.readUnsignedShortLE();
      if (length == 0) {
        throw new MalformedReplyException("empty name of table " + i + " of " + count);
      }
      need(in, length + 8, "table name and transaction");
      String name = readName(in, length);
      tables.add(new TableTxn(name, in.readLongLE()));
    }
    return List.copyOf(tables);
  }

  private static String readName(ByteBuf in, int length) throws MalformedReplyException {
    byte[] utf8 = new byte[length];
    in.readBytes(utf8);
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
    } catch (CharacterCodingException e) {
      throw new MalformedReplyException("a table name that is not UTF-8");
    }
  }

  private static String readText(ByteBuf in) throws MalformedReplyException {
    need(in, 2, "length of the error text");
    int length = in.readUnsignedShortLE();
    need(in, length, "error text");
    String text = in.toString(in.readerIndex(), length, StandardCharsets.UTF_8);
    in.skipBytes(length);
    return text;
  }

  private static void need(ByteBuf in, int bytes, String what) throws MalformedReplyException {
    if (in.readableBytes() < bytes) {
      throw new MalformedReplyException(
          "reply ends at byte "
              + in.writerIndex()
              + ": "
              + what
              + " needs "
              + bytes
              + " at "
              + in.readerIndex());
    }
  }
}
