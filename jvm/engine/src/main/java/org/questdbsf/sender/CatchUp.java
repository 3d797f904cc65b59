package org.questdbsf.sender;

import io.netty.buffer.ByteBuf;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.MessageHeader;
import org.questdbsf.qwp.SymbolDictionary;

/**
 * Tells a new connection the symbols that frames before the first one to be sent carried (facts,
 * section on the symbol dictionary): as many messages as the server's cap asks for, in order.
 * Loop's thread only.
 */
final class CatchUp {
  private static final int HEADROOM = MessageHeader.SIZE + 16;
  private static final int WITHOUT_CAP = 64 * 1024;

  private final Runnable onSent;
  private final MessageEncoder encoder = new MessageEncoder();

  /**
   * @param onSent run for each dictionary message, when it is sent
   */
  CatchUp(Runnable onSent) {
    this.onSent = onSent;
  }

  /**
   * Sends the symbols of a dictionary below {@code end}.
   *
   * @return false, with nothing sent, when a single one is larger than the server's cap
   */
  boolean send(Link link, SymbolDictionary dictionary, int end) {
    int cap = link.connection().maxBatchBytes();
    long room = (cap == 0 ? WITHOUT_CAP : cap) - HEADROOM;
    for (int id = 0; cap > 0 && id < end; id++) {
      if (dictionary.encodedBytes(id, id + 1) > room) {
        return false;
      }
    }
    int from = 0;
    while (from < end) {
      long bytes = dictionary.encodedBytes(from, from + 1);
      int to = from + 1;
      while (to < end && bytes + dictionary.encodedBytes(to, to + 1) <= room) {
        bytes += dictionary.encodedBytes(to, to + 1);
        to++;
      }
      encoder.encodeDictionary(dictionary, from, to);
      ByteBuf message = link.connection().allocate(encoder.length());
      message.writeBytes(encoder.array(), 0, encoder.length());
      link.connection().send(message);
      onSent.run();
      from = to;
    }
    return true;
  }
}
