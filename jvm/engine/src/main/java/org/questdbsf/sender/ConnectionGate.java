package org.questdbsf.sender;

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
   * Grows when there is more to check than at the last call of {@link #admit} or {@link
   * #admitMore}. Any thread; cheap: the loop reads it before each frame.
   */
  long version();
}
