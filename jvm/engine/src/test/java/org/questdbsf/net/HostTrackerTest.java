package org.questdbsf.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.questdbsf.net.ConnectFailure.Kind;
import org.questdbsf.net.HostTracker.State;

class HostTrackerTest {

  private static HostTracker tracker(int hosts) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (int i = 0; i < hosts; i++) {
      endpoints.add(new Endpoint("h" + i, 9000));
    }
    return new HostTracker(endpoints);
  }

  @Test
  void aRoundTriesEachOnceInListOrder() {
    HostTracker t = tracker(3);
    assertEquals(0, t.pickNext());
    assertEquals(1, t.pickNext());
    assertEquals(2, t.pickNext());
    assertEquals(-1, t.pickNext());
    assertEquals(-1, t.pickNext());
    t.beginRound(true);
    assertEquals(0, t.pickNext());
    assertEquals(new Endpoint("h2", 9000), t.endpoint(2));
  }

  @Test
  void theLastSuccessIsTriedFirstInTheNextRound() {
    HostTracker t = tracker(3);
    t.pickNext();
    t.recordTransportError(0);
    assertEquals(1, t.pickNext());
    t.recordSuccess(1);
    t.beginRound(true);
    assertEquals(State.UNKNOWN, t.state(0));
    assertEquals(State.HEALTHY, t.state(1));
    assertEquals(1, t.pickNext());
    assertEquals(0, t.pickNext());
  }

  @Test
  void aMidStreamFailureDemotesBeforeTheNextPick() {
    HostTracker t = tracker(2);
    t.recordSuccess(t.pickNext());
    t.recordMidStreamFailure(0);
    assertEquals(State.TRANSPORT_ERROR, t.state(0));
    assertEquals(1, t.pickNext());
    t.recordTransportError(1);
    assertEquals(-1, t.pickNext());
    t.beginRound(true);
    assertEquals(State.UNKNOWN, t.state(0), "no longer healthy, so nothing to keep");
    assertEquals(0, t.pickNext());
  }

  @Test
  void aMidStreamFailureOfADemotedEndpointChangesNothing() {
    HostTracker t = tracker(2);
    t.recordSuccess(t.pickNext());
    t.recordRoleReject(0, Kind.ROLE_TOPOLOGY);
    t.recordMidStreamFailure(0);
    assertEquals(State.TOPOLOGY_REJECT, t.state(0));
  }

  @Test
  void knownStatesOrderARoundThatKeepsThem() {
    HostTracker t = tracker(5);
    t.recordRoleReject(0, Kind.ROLE_TOPOLOGY);
    t.recordTransportError(1);
    t.recordRoleReject(2, Kind.ROLE_TRANSIENT);
    t.recordSuccess(4);
    t.beginRound(false);
    List<Integer> order = new ArrayList<>();
    for (int i = t.pickNext(); i >= 0; i = t.pickNext()) {
      order.add(i);
    }
    assertEquals(List.of(4, 3, 2, 1, 0), order);
  }

  @Test
  void onlyRolesAreRoleRejects() {
    HostTracker t = tracker(1);
    assertThrows(IllegalArgumentException.class, () -> t.recordRoleReject(0, Kind.AUTH));
    assertThrows(IllegalArgumentException.class, () -> new HostTracker(List.of()));
  }

  /** The rules once more, written the slow way. */
  private static final class Model {
    private record Host(int index, State state, boolean tried) {}

    private final List<Host> hosts = new ArrayList<>();
    private int sticky = -1;

    Model(int n) {
      for (int i = 0; i < n; i++) {
        hosts.add(new Host(i, State.UNKNOWN, false));
      }
    }

    int pick() {
      Host best =
          hosts.stream()
              .filter(h -> !h.tried)
              .min(Comparator.comparing(Host::state).thenComparing(Host::index))
              .orElse(null);
      if (best == null) {
        return -1;
      }
      hosts.set(best.index, new Host(best.index, best.state, true));
      return best.index;
    }

    void state(int i, State s) {
      hosts.set(i, new Host(i, s, hosts.get(i).tried));
      sticky = s == State.HEALTHY ? i : sticky == i ? -1 : sticky;
    }

    void round(boolean forget) {
      hosts.replaceAll(
          h -> new Host(h.index, forget && h.index != sticky ? State.UNKNOWN : h.state, false));
    }
  }

  @Test
  void agreesWithTheModel() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int run = 0; run < 2000; run++) {
      int n = 1 + random.nextInt(5);
      HostTracker t = tracker(n);
      Model m = new Model(n);
      StringBuilder log = new StringBuilder("seed " + seed + " run " + run + ":");
      for (int step = 0; step < 60; step++) {
        int i = random.nextInt(n);
        int op = random.nextInt(8);
        log.append(' ').append(op).append('/').append(i);
        switch (op) {
          case 0 -> {
            t.recordSuccess(i);
            m.state(i, State.HEALTHY);
          }
          case 1 -> {
            t.recordTransportError(i);
            m.state(i, State.TRANSPORT_ERROR);
          }
          case 2 -> {
            boolean topology = random.nextBoolean();
            t.recordRoleReject(i, topology ? Kind.ROLE_TOPOLOGY : Kind.ROLE_TRANSIENT);
            m.state(i, topology ? State.TOPOLOGY_REJECT : State.TRANSIENT_REJECT);
          }
          case 3 -> {
            if (m.hosts.get(i).state == State.HEALTHY) {
              m.state(i, State.TRANSPORT_ERROR);
            }
            t.recordMidStreamFailure(i);
          }
          case 4 -> {
            boolean forget = random.nextInt(3) > 0;
            t.beginRound(forget);
            m.round(forget);
          }
          default -> assertEquals(m.pick(), t.pickNext(), log.toString());
        }
        for (int h = 0; h < n; h++) {
          assertEquals(m.hosts.get(h).state, t.state(h), log.toString());
        }
      }
    }
  }
}
