package org.questdbsf.sender;

import java.util.List;
import java.util.function.Consumer;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.TableTxn;

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

  /**
   * Called on a connection that was admitted, when {@link #version} has grown since: what was
   * checked on this connection need not be checked again.
   *
   * @throws GateClosed if nothing more may be shipped
   */
  default void admitMore(Endpoint endpoint) throws GateClosed, InterruptedException {
    admit(endpoint);
  }

  /**
   * Told of each acknowledgement on a connection that was admitted. The loop's thread; must be
   * quick.
   */
  default void accepted(Endpoint endpoint, List<TableTxn> tables) {}

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
   * Called on a connection that was admitted, to see whether what was found still holds.
   *
   * @return whether a table is another one than it was; frames may be shipped to it
   * @throws GateClosed if nothing more may be shipped
   */
  default boolean admitAgain(Endpoint endpoint) throws GateClosed, InterruptedException {
    return false;
  }

  /** Sets who is told what people should know; called once, before the first {@link #admit}. */
  default void onNotice(Consumer<String> listener) {}

  /**
   * Grows when there is more to check than at the last call of {@link #admit} or {@link
   * #admitMore}. Any thread; cheap: the loop reads it before each frame.
   */
  long version();
}
