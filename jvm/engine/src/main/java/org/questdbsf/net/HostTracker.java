package org.questdbsf.net;

import java.util.Arrays;
import java.util.List;

/**
 * Which endpoint to try next, by what is known of each. A round tries every endpoint once, in the
 * order of {@link State}, then of the list; when {@link #pickNext} answers −1 the caller sleeps
 * once and begins a new round.
 *
 * <p>One tracker per reconnect loop, used by its thread only: a shared one would mix up whose
 * connection failed in mid-stream.
 */
public final class HostTracker {

  /** What is known of an endpoint; tried in this order. */
  public enum State {
    /** Gave the last connection that worked. */
    HEALTHY,
    /** Not tried since the last round. */
    UNKNOWN,
    /** Will soon be a primary. */
    TRANSIENT_REJECT,
    /** Could not be reached, or its connection broke. */
    TRANSPORT_ERROR,
    /** Is a replica, or cannot take our frames for another lasting reason. */
    TOPOLOGY_REJECT
  }

  private final List<Endpoint> endpoints;
  private final State[] states;
  private final boolean[] tried;
  private int lastSuccess = -1;

  /** A tracker in its first round, all endpoints unknown. */
  public HostTracker(List<Endpoint> endpoints) {
    this.endpoints = List.copyOf(endpoints);
    if (this.endpoints.isEmpty()) {
      throw new IllegalArgumentException("no endpoint");
    }
    this.states = new State[this.endpoints.size()];
    Arrays.fill(states, State.UNKNOWN);
    this.tried = new boolean[states.length];
  }

  /** How many endpoints there are. */
  public int size() {
    return states.length;
  }

  /** The endpoint with this index in the list. */
  public Endpoint endpoint(int index) {
    return endpoints.get(index);
  }

  /** What is known of it. */
  public State state(int index) {
    return states[index];
  }

  /** The endpoint to try now, which counts as tried in this round; −1 when all were. */
  public int pickNext() {
    int best = -1;
    for (int i = 0; i < states.length; i++) {
      if (!tried[i] && (best < 0 || states[i].compareTo(states[best]) < 0)) {
        best = i;
      }
    }
    if (best >= 0) {
      tried[best] = true;
    }
    return best;
  }

  /** The connection stands. */
  public void recordSuccess(int index) {
    states[index] = State.HEALTHY;
    lastSuccess = index;
  }

  /** No connection: anything but a role reject. */
  public void recordTransportError(int index) {
    demote(index, State.TRANSPORT_ERROR);
  }

  /**
   * The endpoint said what it is, in an upgrade or (not writable, or a cap too small for the head
   * frame) later.
   *
   * @throws IllegalArgumentException when the kind is not a role reject
   */
  public void recordRoleReject(int index, ConnectFailure.Kind kind) {
    switch (kind) {
      case ROLE_TOPOLOGY -> demote(index, State.TOPOLOGY_REJECT);
      case ROLE_TRANSIENT -> demote(index, State.TRANSIENT_REJECT);
      default -> throw new IllegalArgumentException(kind + " is not a role reject");
    }
  }

  /** A working connection broke. To be called before the next {@link #pickNext}. */
  public void recordMidStreamFailure(int index) {
    if (states[index] == State.HEALTHY) {
      demote(index, State.TRANSPORT_ERROR);
    }
  }

  /**
   * Every endpoint may be tried again.
   *
   * @param forgetClassifications true after an exhausted round: all become unknown, except the
   *     endpoint of the last success while it is still healthy
   */
  public void beginRound(boolean forgetClassifications) {
    Arrays.fill(tried, false);
    if (forgetClassifications) {
      for (int i = 0; i < states.length; i++) {
        if (i != lastSuccess) {
          states[i] = State.UNKNOWN;
        }
      }
    }
  }

  private void demote(int index, State state) {
    states[index] = state;
    if (lastSuccess == index) {
      lastSuccess = -1;
    }
  }
}
