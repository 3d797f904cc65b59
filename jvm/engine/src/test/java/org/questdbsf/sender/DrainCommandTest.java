package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SegmentBudget;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.Slot;
import org.questdbsf.slot.SlotDirectory;
import org.questdbsf.testserver.NackRule;

/** The command on real slots and a real server. */
class DrainCommandTest extends WithTestServer {
  private static final int ROWS = 5;

  @TempDir Path dir;
  private String result;
  private String progress;

  private static String here() {
    return "ws::addr=127.0.0.1:" + server.port() + ";sf_min_free_bytes=0;";
  }

  private SenderConfig config(String address) {
    Map<ConnectKey, String> keys = new EnumMap<>(ConnectKey.class);
    keys.put(ConnectKey.ADDR, address);
    keys.put(ConnectKey.SF_DIR, dir.toString());
    keys.put(ConnectKey.SF_MAX_SEGMENT_BYTES, "64k");
    keys.put(ConnectKey.SF_MIN_FREE_BYTES, "0");
    keys.put(ConnectKey.CLOSE_FLUSH_TIMEOUT_MILLIS, "0");
    return SenderConfig.of(keys, ConfigPreset.SINK);
  }

  /** A slot with frames that nobody sent, for the server at an address. */
  private Path orphan(String name, String address) throws Exception {
    SenderConfig away = config("127.0.0.1:1");
    Slot slot =
        Slot.open(
            dir,
            name,
            away.ringSettings(),
            new SegmentBudget(away.totalBytes()).open(away.segmentBytes()),
            SegmentKeeper.shared(),
            DiskIo.PRODUCTION);
    SlotTarget target = SlotTarget.of(config(address), List.of(), "test");
    try (Sender sender = Sender.builder(away).freshSlot(slot).target(target).build()) {
      for (int i = 0; i < ROWS; i++) {
        sender.table(table).longColumn("n", i).at(i, ChronoUnit.SECONDS);
        sender.flush();
      }
    }
    return dir.resolve(name);
  }

  private int run(String connectString, Object... args) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    String[] words = new String[args.length];
    for (int i = 0; i < args.length; i++) {
      words[i] = args[i].toString();
    }
    int status =
        DrainCommand.run(
            words,
            connectString,
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8));
    result = out.toString(StandardCharsets.UTF_8);
    progress = err.toString(StandardCharsets.UTF_8);
    return status;
  }

  private boolean holdsFrames(String name) {
    return SlotDirectory.inspect(dir, name, DiskIo.PRODUCTION).hasSegments();
  }

  @Test
  void drainsAlsoWhatWasGivenUpBefore() throws Exception {
    Path slot = orphan("app-0", "127.0.0.1:" + server.port());
    Files.writeString(slot.resolve(".failed"), "rejected on another day\n");
    assertEquals(DrainCommand.DRAINED, run(here(), "drain", slot), () -> progress);
    server.awaitRows(table, ROWS);
    assertTrue(result.contains("\"drained\": true"), result);
    assertTrue(result.contains("\"acked_fsn\": " + (ROWS - 1)), result);
    assertFalse(holdsFrames("app-0"));
    assertFalse(Files.exists(slot.resolve(".failed")));
    assertEquals(DrainCommand.DRAINED, run(here(), "drain", slot), "empty now");
  }

  @Test
  void anotherTargetNeedsTheWordOfTheOperator() throws Exception {
    Path slot = orphan("app-0", "10.0.0.1:9000");
    assertEquals(DrainCommand.REFUSED, run(here(), "drain", slot));
    assertTrue(progress.contains("10.0.0.1:9000") && progress.contains("--any-target"), progress);
    assertTrue(holdsFrames("app-0"));
    assertEquals(DrainCommand.DRAINED, run(here(), "drain", slot, "--any-target"), () -> progress);
    server.awaitRows(table, ROWS);

    Path unsaid = orphan("app-1", "127.0.0.1:" + server.port());
    Files.delete(unsaid.resolve(".target"));
    assertEquals(DrainCommand.REFUSED, run(here(), "drain", unsaid));
    assertTrue(holdsFrames("app-1"));

    Path garbled = orphan("app-2", "127.0.0.1:" + server.port());
    Files.writeString(garbled.resolve(".target"), "format=1\nhosts=:::\n");
    assertEquals(DrainCommand.REFUSED, run(here(), "drain", garbled));
    assertEquals(
        DrainCommand.DRAINED, run(here(), "drain", garbled, "--any-target"), () -> progress);
    server.awaitRows(table, 2L * ROWS);
  }

  @Test
  void aRejectedFrameEndsItAndStaysWhereItIs() throws Exception {
    Path slot = orphan("app-0", "127.0.0.1:" + server.port());
    server.script().nack(NackRule.always(0x03, "column n is SYMBOL"));
    assertEquals(DrainCommand.REFUSED, run(here(), "drain", slot));
    assertTrue(result.contains("column n is SYMBOL"), result);
    assertTrue(result.contains("\"code\": \"SERVER_REJECTED\""), result);
    assertTrue(holdsFrames("app-0"));
    assertTrue(Files.readString(slot.resolve(".last_error")).contains("column n is SYMBOL"));
  }

  @Test
  void whatCannotBeDoneNowLeavesTheSlotForLater() throws Exception {
    Path slot = orphan("app-0", "127.0.0.1:1");
    String down = "ws::addr=127.0.0.1:1;reconnect_max_duration_millis=200;sf_min_free_bytes=0;";
    assertEquals(DrainCommand.COULD_NOT, run(down, "drain", slot));
    assertTrue(result.contains("127.0.0.1:1"), result);
    assertEquals(DrainCommand.COULD_NOT, run(null, "drain", slot));
    assertTrue(result.contains("QDB_CLIENT_CONF"), result);
    assertEquals(DrainCommand.COULD_NOT, run(here(), "drain", dir.resolve("nothing")));
    assertEquals(DrainCommand.COULD_NOT, run(here(), "drain", slot, "--all"));
    assertEquals(DrainCommand.COULD_NOT, run(here()));
    assertTrue(holdsFrames("app-0"));
  }
}
