package org.questdbsf.sender;

import java.util.Arrays;
import org.questdbsf.slot.SegmentRing;

/** Reads single frames of the ring for a closer look. Loop's thread only. */
final class FrameReader {
  private final SegmentRing ring;
  private byte[] frame = new byte[0];

  FrameReader(SegmentRing ring) {
    this.ring = ring;
  }

  /** Looks at an unacknowledged, published frame. */
  FrameLook look(long fsn) {
    int length = ring.frameLength(fsn);
    frame = frame.length < length ? new byte[length] : frame;
    ring.copyFrame(fsn, frame, 0);
    return FrameLook.at(frame, 0, length);
  }

  /** The bytes of the frame looked at last. */
  byte[] copy(long fsn) {
    return Arrays.copyOf(frame, ring.frameLength(fsn));
  }
}
