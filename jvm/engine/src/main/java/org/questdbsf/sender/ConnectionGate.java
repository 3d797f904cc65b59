package org.questdbsf.sender;

import java.util.function.Consumer;
import org.questdbsf.net.Endpoint;

/**
 * Decides whether frames may be shipped on a connection. One gate belongs to one send loop, which
 * calls {@link #admit} on its own thread after each connect, before the first frame.
 */
public interface ConnectionGate {
  /** Lets everything through. */
  ConnectionGate OPEN =
      new ConnectionGate() {
        @Override
        public void admit(Endpoint endpoint) {}

        @Override
        public long version() {
          return 0;
        }
      };

  /**
   * Called on a new connection before anything is shipped on it. May block for as long as its own
   * requests to the server take.
   *
   * @throws GateClosed if nothing may be shipped
   */
  void admit(Endpoint endpoint) throws GateClosed, InterruptedException;

  /** What a look at the tables found. */
  enum Look {
    /** All are the ones they were. */
    SAME,
    /**
     * At least one is another one, or has another structure, than when this connection began to
     * write to it. Frames may be shipped, but through a new connection only: a server loses what
     * comes through one that has written to the old table.
     */
    REPLACED,
    /** The server did not say. */
    UNKNOWN
  }

  /**
   * Called on a connection that was admitted, when {@link #version} has grown since: what was
   * checked on this connection need not be checked again.
   *
   * @return whether a table that was checked before has been replaced
   * @throws GateClosed if nothing more may be shipped
   */
  default Look admitMore(Endpoint endpoint) throws GateClosed, InterruptedException {
    admit(endpoint);
    return Look.SAME;
  }

  /**
   * Told of an acknowledgement that does not account for rows of a table: it was replaced, or the
   * server has lost the rows in another way. The loop's thread.
   */
  default void unproven(Endpoint endpoint, String table) {}

  /** Whether {@link #admitAgain} can tell if all tables on this server are the ones they were. */
  default boolean identifiesTables(Endpoint endpoint) {
    return false;
  }

  /**
   * Whether {@link #admitAgain} should be called before the next frame. The loop's thread, before
   * each frame; cheap.
   *
   * @param quiet whether all that was sent is acknowledged
   * @param now {@code System.nanoTime()}
   */
  default boolean isDue(boolean quiet, long now) {
    return false;
  }

  /**
   * How old a look may be that is not made for this loop, in nanoseconds.
   *
   * @param quiet whether all that was sent is acknowledged
   */
  default long mayBeOld(boolean quiet) {
    return 0;
  }

  /**
   * Called on a connection that was admitted, to see whether what was found still holds.
   *
   * @param since the look must not have begun before, by {@code System.nanoTime()}
   * @throws GateClosed if nothing more may be shipped
   */
  default Look admitAgain(Endpoint endpoint, long since) throws GateClosed, InterruptedException {
    return Look.SAME;
  }

  /** Sets who is told what people should know; called once, before the first {@link #admit}. */
  default void onNotice(Consumer<String> listener) {}

  /**
   * Grows when there is more to check than at the last call of {@link #admit} or {@link
   * #admitMore}. Any thread; cheap: the loop reads it before each frame.
   */
  long version();
}
