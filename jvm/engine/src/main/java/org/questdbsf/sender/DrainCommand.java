package org.questdbsf.sender;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.slot.DiskIo;
import org.questdbsf.slot.SegmentKeeper;
import org.questdbsf.slot.SlotDirectory;
import org.questdbsf.slot.SlotInfo;

/**
 * Sends one slot to the end, by hand: the main class of the standalone jar and what {@code
 * questdb-sf slots drain} starts.
 *
 * <pre>QDB_CLIENT_CONF='ws::addr=HOST:9000;' java -jar questdb-sf-standalone.jar drain SLOT</pre>
 *
 * <p>The connect string comes from the environment, never from the command line, which every user
 * of the host can read. Rejections are treated as the sink does; an outage may last five minutes,
 * or what {@code reconnect_max_duration_millis} says. Progress goes to standard error, one JSON
 * object to standard output at the end. Exit status: 0 drained; 1 the slot was refused, or the
 * server rejected a frame; 2 it could not be done now.
 */
public final class DrainCommand {
  static final int DRAINED = 0;
  static final int REFUSED = 1;
  static final int COULD_NOT = 2;

  private static final String USAGE = "usage: drain SLOT [--any-target]";
  private static final String ANY_TARGET = "--any-target";
  private static final String OUTAGE_MILLIS = "300000";
  private static final long LOOK_MILLIS = 50;
  private static final long TELL_NANOS = 2_000_000_000L;
  private static final Set<ErrorCode> REFUSALS =
      EnumSet.of(
          ErrorCode.SLOT_REFUSED,
          ErrorCode.SLOT_NEWER_FORMAT,
          ErrorCode.SERVER_REJECTED,
          ErrorCode.POISON_FRAME,
          ErrorCode.FRAME_TOO_LARGE,
          ErrorCode.TABLE_MISSING,
          ErrorCode.TABLE_MISMATCH);

  private final Path slot;
  private final boolean anyTarget;
  private final String connectString;
  private final PrintStream progress;
  private long acked = -1;
  private long published = -1;

  private DrainCommand(Path slot, boolean anyTarget, String connectString, PrintStream progress) {
    this.slot = slot.toAbsolutePath().normalize();
    this.anyTarget = anyTarget;
    this.connectString = connectString;
    this.progress = progress;
  }

  /** Runs the command line and ends the JVM with its exit status. */
  public static void main(String[] args) throws InterruptedException {
    String connectString = System.getenv(SenderConfig.ENVIRONMENT_VARIABLE);
    System.exit(run(args, connectString, System.out, System.err));
  }

  /** The command without the process around it; returns the exit status. */
  static int run(String[] args, String connectString, PrintStream result, PrintStream progress)
      throws InterruptedException {
    boolean any = args.length == 3 && args[2].equals(ANY_TARGET);
    if (!(args.length == 2 || any) || !args[0].equals("drain")) {
      progress.println(USAGE + ", with a connect string in " + SenderConfig.ENVIRONMENT_VARIABLE);
      return COULD_NOT;
    }
    return new DrainCommand(Path.of(args[1]), any, connectString, progress).run(result);
  }

  private int run(PrintStream result) throws InterruptedException {
    SfException error = null;
    int status = DRAINED;
    try {
      drain();
    } catch (SfException e) {
      error = e;
      status = REFUSALS.contains(e.code()) ? REFUSED : COULD_NOT;
      progress.println("not drained: " + e.getMessage());
    }
    result.println(json(error));
    return status;
  }

  private void drain() throws InterruptedException {
    if (!Files.isDirectory(slot) || slot.getParent() == null) {
      throw new SfException(ErrorCode.DISK_FAILED, slot + " is not a directory; name a slot.");
    }
    SenderConfig config = config();
    String name = slot.getFileName().toString();
    SlotInfo info = SlotDirectory.inspect(slot.getParent(), name, DiskIo.PRODUCTION);
    if (!info.hasSegments()) {
      progress.println("slot " + slot + " holds no frames");
      return;
    }
    Optional<SlotTarget> target = target(info, config);
    progress.println("slot " + slot + " is sent to " + config.endpoints());
    Drainer drainer =
        Drainer.open(
            new OrphanScanner.Orphan(name, target),
            config,
            new LocalDeadLetters(slot.getParent()),
            null,
            new SuspendedTables(),
            SegmentKeeper.shared(),
            DiskIo.PRODUCTION);
    try {
      await(drainer);
      drainer.clearFailed();
    } finally {
      drainer.close();
    }
    progress.println("drained up to frame " + published);
  }

  private SenderConfig config() {
    if (connectString == null || connectString.isBlank()) {
      throw new SfException(
          ErrorCode.CONFIG_MISSING,
          "no server is named; put a connect string into "
              + SenderConfig.ENVIRONMENT_VARIABLE
              + ", for example ws::addr=host:9000;");
    }
    Map<ConnectKey, String> keys = new EnumMap<>(ConnectKey.class);
    keys.putAll(ConnectString.parse(connectString));
    keys.put(ConnectKey.SF_DIR, slot.getParent().toString());
    keys.remove(ConnectKey.SENDER_ID);
    keys.put(ConnectKey.DRAIN_ORPHANS, "off");
    keys.put(ConnectKey.INITIAL_CONNECT_RETRY, "async");
    keys.put(ConnectKey.CLOSE_FLUSH_TIMEOUT_MILLIS, "0");
    keys.putIfAbsent(ConnectKey.RECONNECT_MAX_DURATION_MILLIS, OUTAGE_MILLIS);
    return SenderConfig.of(keys, ConfigPreset.SINK);
  }

  /** Where the slot's frames belong, compared with where they would go. */
  private Optional<SlotTarget> target(SlotInfo info, SenderConfig config) {
    if (info.target().isEmpty()) {
      return permitted("it does not say where its frames belong (no .target)");
    }
    SlotTarget target;
    try {
      target = SlotTarget.fromMap(info.name(), info.target());
    } catch (SfException e) {
      return permitted("its .target cannot be read (" + e.getMessage() + ")");
    }
    target
        .difference(SlotTarget.of(config, List.of(), "questdb-sf slots drain"))
        .ifPresent(why -> permitted("it belongs to another target: " + why));
    return Optional.of(target);
  }

  private Optional<SlotTarget> permitted(String doubt) {
    if (!anyTarget) {
      throw new SfException(
          ErrorCode.SLOT_REFUSED,
          "slot "
              + slot
              + ": "
              + doubt
              + ". Nothing was sent. If its rows shall go to this server all the same, add "
              + ANY_TARGET
              + ".");
    }
    progress.println("sent all the same (" + ANY_TARGET + "): " + doubt);
    return Optional.empty();
  }

  private void await(Drainer drainer) throws InterruptedException {
    long told = System.nanoTime() - TELL_NANOS;
    while (true) {
      acked = drainer.ackedFsn();
      published = drainer.publishedFsn();
      Optional<SfException> error = drainer.error();
      if (error.isPresent()) {
        drainer.noteError(error.get());
        throw error.get();
      }
      if (acked >= published) {
        return;
      }
      if (System.nanoTime() - told >= TELL_NANOS) {
        told = System.nanoTime();
        progress.println(
            "frame " + acked + " of " + published + " acknowledged; " + describe(drainer.state()));
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  private static String describe(SenderState state) {
    return state.kind().name().toLowerCase(Locale.ROOT)
        + (state.host() == null ? "" : ", " + state.host())
        + (state.cause() == null ? "" : ": " + state.cause());
  }

  private String json(SfException error) {
    return "{\"slot\": "
        + quoted(slot.toString())
        + ", \"drained\": "
        + (error == null)
        + ", \"acked_fsn\": "
        + acked
        + ", \"published_fsn\": "
        + published
        + ", \"code\": "
        + (error == null ? "null" : quoted(error.code().name()))
        + ", \"error\": "
        + (error == null ? "null" : quoted(error.getMessage()))
        + "}";
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
