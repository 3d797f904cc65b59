package org.questdbsf.qwp;

import java.util.List;

/**
 * One decoded message.
 *
 * @param flags the header's flags
 * @param deltaStart id of the first entry of the delta section, 0 where there is none
 * @param delta texts that the message adds to the dictionary, from deltaStart
 * @param tables table blocks in the order of the message
 */
public record QwpMessage(int flags, int deltaStart, List<String> delta, List<DecodedTable> tables) {
  /** Whether its rows wait for the commit of a later message (flag 0x01). */
  public boolean deferred() {
    return (flags & MessageHeader.FLAG_DEFER_COMMIT) != 0;
  }
}
