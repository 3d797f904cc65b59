package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Endpoint;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SlotDirectory;

/** Senders whose ring is a slot on disk. */
@Timeout(60)
class SlotSenderTest {
  @TempDir Path directory;

  private static Recorder accepting() {
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    return self[0];
  }

  private SenderBuilder builder(String address, String keys) {
    return Senders.builder(address, "sf_dir=" + directory + ";sf_min_free_bytes=0;" + keys);
  }

  @Test
  void rowsSurviveTheSenderAndArriveThroughTheNext() throws Exception {
    try (Sender sender = builder("127.0.0.1:1", "close_flush_timeout_millis=0;").build()) {
      for (int n = 0; n < 50; n++) {
        Senders.publish(sender, "t", 2L * n, 2L * n + 2);
      }
      sender.force();
    }
    Recorder script = accepting();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = builder(server.address(), "").build()) {
      assertEquals(49, sender.publishedFsn());
      assertEquals(50, Senders.publish(sender, "t", 100, 103), "FSNs go on");
      sender.awaitAcked(50);
      script.database.assertComplete("t", 103);
      assertEquals(103, script.database.all("t").size());
      assertEquals(0, sender.counters().framesReplayed(), "none was sent before by this sender");
    }
    try (Stream<Path> left = Files.list(directory.resolve("default"))) {
      assertFalse(left.anyMatch(file -> file.toString().endsWith(".sfa")), "drained is empty");
    }
  }

  @Test
  void idsKeepTheirMeaningInTheNextSender() throws Exception {
    try (Sender sender = builder("127.0.0.1:1", "close_flush_timeout_millis=0;").build()) {
      Senders.publish(sender, "t", 0, 10);
    }
    Recorder silent = new Recorder((session, sequence, n, message) -> {});
    try (ScriptServer server = new ScriptServer(silent);
        Sender sender = builder(server.address(), "close_flush_timeout_millis=0;").build()) {
      assertEquals(10, sender.dictionary().size());
      assertEquals(3, sender.dictionary().idOf("s3"));
      Senders.publish(sender, "t", 10, 12);
      assertTrueEventually(() -> silent.all().size() == 2, "both frames");
      assertEquals(12, sender.dictionary().size());
    }
  }

  @Test
  void everyFrameOfASlotCarriesItsSymbols() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              assertEquals(0, message.deltaStart());
              assertTrue(message.delta().size() >= n + 1, "symbols in frame " + n);
              self[0].accept(session, sequence, message);
              if (n == 5 && self[0].connection() == 0) {
                session.reset();
              }
            });
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server.address(), "").build()) {
      for (int n = 0; n < 10; n++) {
        Senders.publish(sender, "t", n, n + 1);
      }
      sender.awaitAcked(9);
      self[0].database.assertComplete("t", 10);
      assertFalse(self[0].all().contains(Recorder.DICTIONARY), "no catch-up is needed");
    }
  }

  @Test
  void theCapIsRemembered() throws Exception {
    Recorder script = accepting();
    script.upgrades = c -> ScriptServer.Upgrade.accept("X-QWP-Max-Batch-Size", "20000");
    try (ScriptServer server = new ScriptServer(script)) {
      try (Sender sender =
          builder(server.address(), "initial_connect_retry=on;close_flush_timeout_millis=0;")
              .build()) {
        server.run(() -> server.open.forEach(ScriptServer.Session::stopReading));
        Senders.publish(sender, "t", 0, 1);
      }
    }
    try (Sender sender = builder("127.0.0.1:1", "close_flush_timeout_millis=0;").build()) {
      long before = sender.publishedFsn();
      Senders.publish(sender, "t", 1, 1001);
      assertTrue(sender.publishedFsn() - before > 1, "cut to the remembered cap");
    }
  }

  @Test
  void tablesAndCapAreBothKeptInTheTargetWhicheverComesFirst() throws Exception {
    Recorder script = accepting();
    script.upgrades = c -> ScriptServer.Upgrade.accept("X-QWP-Max-Batch-Size", "20000");
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = builder(server.address(), "initial_connect_retry=on;").build()) {
      assertTrueEventually(() -> noted().batchCap() == 20000, "the cap");
      List<TableSpec> tables =
          List.of(TableSpec.builder("a").build(), TableSpec.builder("b").build());
      sender.noteTables(tables);
      assertEquals(tables, noted().tables());
      assertEquals(20000, noted().batchCap());
      script.upgrades = c -> ScriptServer.Upgrade.accept("X-QWP-Max-Batch-Size", "10000");
      server.run(() -> server.open.forEach(ScriptServer.Session::reset));
      assertTrueEventually(() -> noted().batchCap() == 10000, "the smaller cap");
      assertEquals(tables, noted().tables());
    }
  }

  private SlotTarget noted() {
    Map<String, String> target =
        SlotDirectory.inspect(directory, "default", DiskIo.PRODUCTION).target();
    return SlotTarget.fromMap("default", target);
  }

  @Test
  void droppedFramesAreKeptBesideTheSlot() throws Exception {
    Recorder[] self = new Recorder[1];
    self[0] =
        new Recorder(
            (session, sequence, n, message) -> {
              if (n == 1) {
                session.nack(0x03, sequence, "no");
              } else {
                self[0].accept(session, sequence, message);
              }
            });
    List<SenderError> errors = new CopyOnWriteArrayList<>();
    try (ScriptServer server = new ScriptServer(self[0]);
        Sender sender = builder(server.address(), "").errorHandler(errors::add).build()) {
      for (int n = 0; n < 3; n++) {
        Senders.publish(sender, "t", n, n + 1);
      }
      sender.awaitAcked(2);
      assertTrueEventually(() -> errors.size() == 1, "told");
      assertTrue(Files.exists(Path.of(errors.get(0).deadLetter())), errors.get(0).deadLetter());
    }
  }

  @Test
  void flushForcesWhenAskedFor() throws Exception {
    Recorder script = accepting();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = builder(server.address(), "sf_durability=flush;").build()) {
      Senders.writeRow(sender, "t", 0);
      assertEquals(0, sender.flush());
      sender.awaitAcked(0);
    }
  }

  @Test
  void aHeldSlotIsRefusedAndNothingIsLeftOpen() throws Exception {
    try (Sender sender = builder("127.0.0.1:1", "close_flush_timeout_millis=0;").build()) {
      assertFalse(sender.mustRetire());
      SfException thrown =
          assertThrows(SfException.class, () -> builder("127.0.0.1:1", "").build());
      assertEquals(ErrorCode.SLOT_LOCKED, thrown.code());
    }
    builder("127.0.0.1:1", "").build().close();
  }

  @Test
  void orphansAreAdoptedWhereAskedFor() throws Exception {
    Recorder script = accepting();
    try (ScriptServer server = new ScriptServer(script)) {
      try (Sender sender =
          builder("127.0.0.1:1," + server.address(), "sender_id=gone;close_flush_timeout_millis=0;")
              .gate(new Shut())
              .build()) {
        Senders.publish(sender, "t", 0, 5);
      }
      try (Sender sender = builder(server.address(), "sender_id=here;drain_orphans=on;").build()) {
        assertTrueEventually(() -> script.database.all("t").size() == 5, "adopted");
        assertTrueEventually(() -> sender.drainers().orElseThrow().succeeded() == 1, "counted");
      }
    }
  }

  /** Keeps everything in the ring. */
  private static final class Shut implements ConnectionGate {
    @Override
    public void admit(Endpoint endpoint) throws GateClosed {
      throw new GateClosed(false, new SfException(ErrorCode.CONNECT_FAILED, "shut"));
    }

    @Override
    public long version() {
      return 0;
    }
  }

  private Path firstSegment() throws Exception {
    try (Stream<Path> files = Files.list(directory.resolve("default"))) {
      return files.filter(f -> f.toString().endsWith(".sfa")).sorted().findFirst().orElseThrow();
    }
  }

  @Test
  void whatATornEndHeldIsAnEventAndACount() throws Exception {
    try (Sender sender = builder("127.0.0.1:1", "close_flush_timeout_millis=0;").build()) {
      for (int n = 0; n < 3; n++) {
        Senders.publish(sender, "t", n, n + 1);
      }
      sender.force();
    }
    byte[] bytes = Files.readAllBytes(firstSegment());
    int end = bytes.length;
    while (bytes[end - 1] == 0) {
      end--;
    }
    bytes[end - 1] ^= 1; // in the last frame
    Files.write(firstSegment(), bytes);
    forgetForced(firstSegment().resolveSibling(".witness"));
    List<SenderError> told = new CopyOnWriteArrayList<>();
    try (Sender sender =
        builder("127.0.0.1:1", "close_flush_timeout_millis=0;").errorHandler(told::add).build()) {
      assertTrueEventually(() -> told.size() == 1, "an event");
      assertEquals(List.of(2L, 2L), List.of(told.get(0).fromFsn(), told.get(0).toFsn()));
      assertTrue(
          told.get(0).message().contains("not forced to disk, and are lost"), told.get(0)::message);
      assertEquals(1, sender.counters().framesMissing());
    }
  }

  /** A witness as after a power cut of a host where nothing was forced. */
  private static void forgetForced(Path witness) throws Exception {
    ByteBuffer b = ByteBuffer.wrap(Files.readAllBytes(witness)).order(ByteOrder.LITTLE_ENDIAN);
    b.putLong(32, -1).putLong(40, 0); // highest forced FSN, boot of the host
    CRC32C crc = new CRC32C();
    crc.update(b.array(), 0, 48);
    b.putInt(48, (int) crc.getValue());
    Files.write(witness, b.array());
  }

  @Test
  void aSlotWhoseFramesCannotBeSentIsAsItWas() throws Exception {
    byte[] leaning = {
      'Q', 'W', 'P', '1', 1, 8, 0, 0, 2, 0, 0, 0, 5, 0 // symbols from id 5 on, none of them
    };
    ByteBuffer file = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
    CRC32C crc = new CRC32C();
    file.put(new byte[] {'S', 'F', '0', '1', 1, 0, 0, 0}).putLong(0).putLong(0);
    file.putInt(28, leaning.length);
    crc.update(file.array(), 28, 4);
    crc.update(leaning);
    file.putInt(24, (int) crc.getValue()).position(32);
    file.put(leaning).put(3000, (byte) 1); // and a torn end
    Path slot = Files.createDirectories(directory.resolve("default"));
    Files.write(slot.resolve("sf-0000000000000000.sfa"), file.array());
    Files.write(slot.resolve(".ack-watermark"), new byte[16]);
    SfException e =
        assertThrows(SfException.class, () -> builder("127.0.0.1:1", "").build().close());
    assertEquals(ErrorCode.SLOT_NEWER_FORMAT, e.code());
    try (Stream<Path> left = Files.walk(directory)) {
      assertEquals(4, left.count(), "directory, slot and its two files");
    }
    assertEquals(
        HexFormat.of().formatHex(file.array()),
        HexFormat.of().formatHex(Files.readAllBytes(slot.resolve("sf-0000000000000000.sfa"))));
  }
}
