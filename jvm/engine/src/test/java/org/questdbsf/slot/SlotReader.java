package org.questdbsf.slot;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.zip.CRC32C;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * The engine's part of {@code make torture}: makes slots and opens damaged ones, many in one JVM.
 * Each line of standard input is a command, each line of standard output its answer.
 *
 * <pre>
 * make DIR NAME ACKED HEX,HEX,..   a slot with these frames, acknowledged up to an FSN
 * look DIR NAME                    what is in a slot; changes nothing
 * open DIR NAME                    the same after the slot was opened for use and closed
 *
 * VERDICT ACKED PUBLISHED CRC,CRC,.. FSN-FSN,..   of the unacknowledged frames, and FSNs of those
 *     that the slot is opened without; a refusal: VERDICT and why
 * </pre>
 */
final class SlotReader {
  private static final RingSettings SETTINGS = new RingSettings(4096, Durability.FLUSH, 10, 0);

  private SlotReader() {}

  public static void main(String[] arguments) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(answer(line.split(" ")));
    }
  }

  private static String answer(String[] words) throws Exception {
    Path dir = Path.of(words[1]);
    String name = words[2];
    try {
      switch (words[0]) {
        case "make" -> make(dir, name, Long.parseLong(words[3]), words[4].split(","));
        case "open" -> open(dir, name, true).close();
        default -> {}
      }
      try (Slot slot = open(dir, name, false)) {
        return describe(slot);
      }
    } catch (SfException e) {
      return verdict(e.code()) + " " + e.getMessage().replace('\n', ' ');
    }
  }

  private static Slot open(Path dir, String name, boolean forUse) throws InterruptedException {
    SegmentBudget.Share share = new SegmentBudget(1 << 20).open(SETTINGS.segmentBytes());
    SegmentKeeper keeper = SegmentKeeper.shared();
    return forUse
        ? Slot.open(dir, name, SETTINGS, share, keeper, DiskIo.PRODUCTION)
        : Slot.openToLook(dir, name, SETTINGS, share, keeper, DiskIo.PRODUCTION);
  }

  private static void make(Path dir, String name, long acked, String[] frames)
      throws InterruptedException {
    try (Slot slot = open(dir, name, true)) {
      slot.writeTarget(Map.of("format", "1"));
      for (String hex : frames) {
        byte[] frame = HexFormat.of().parseHex(hex);
        slot.ring().append(frame, 0, frame.length, -1, () -> "");
      }
      slot.ring().force();
      slot.ring().acknowledge(acked);
    }
  }

  private static String describe(Slot slot) {
    SegmentRing ring = slot.ring();
    StringJoiner frames = new StringJoiner(",");
    for (long fsn = ring.ackedFsn() + 1; fsn <= ring.publishedFsn(); fsn++) {
      byte[] frame = new byte[ring.frameLength(fsn)];
      ring.copyFrame(fsn, frame, 0);
      CRC32C crc = new CRC32C();
      crc.update(frame);
      frames.add(String.format("%08x", crc.getValue()));
    }
    String verdict = slot.report().verdict().name().toLowerCase(Locale.ROOT);
    StringJoiner missing = new StringJoiner(",");
    slot.report().missing().forEach(m -> missing.add(m.fromFsn() + "-" + m.toFsn()));
    return String.join(
        " ",
        verdict,
        Long.toString(ring.ackedFsn()),
        Long.toString(ring.publishedFsn()),
        frames.toString(),
        missing.toString());
  }

  private static String verdict(ErrorCode code) {
    return switch (code) {
      case SLOT_REFUSED -> "refused";
      case SLOT_NEWER_FORMAT -> "newer";
      case DISK_FAILED -> "unreadable";
      default -> code.name();
    };
  }
}
