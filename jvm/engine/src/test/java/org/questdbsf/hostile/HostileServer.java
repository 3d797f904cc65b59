package org.questdbsf.hostile;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.questdbsf.net.RawServer;

/** Misbehaves as its mode says until it is {@link #heal healed}; behaves from then on. */
final class HostileServer implements AutoCloseable {
  private final Mode mode;
  private final RawServer sockets;
  private final Set<RawServer.Peer> open = ConcurrentHashMap.newKeySet();
  private final List<Long> upgrades = new CopyOnWriteArrayList<>();
  private final List<Long> requests = new CopyOnWriteArrayList<>();
  private final Set<Long> acknowledged = new ConcurrentSkipListSet<>();
  private final AtomicLong transactions = new AtomicLong();
  private volatile boolean healed;

  HostileServer(Mode mode) throws IOException {
    this.mode = mode;
    this.sockets = RawServer.atAnAddressOfItsOwn(this::serve);
  }

  String address() {
    return sockets.endpoint().toString();
  }

  private void serve(RawServer.Peer peer) throws Exception {
    open.add(peer);
    try {
      RawServer.Request request = peer.readRequest();
      boolean sql = request.line().contains(" /exec");
      (sql ? requests : upgrades).add(System.nanoTime());
      Conversation conversation = new Conversation(this, peer, request);
      if (!healed) {
        (sql ? mode.sql() : mode.connection()).serve(conversation);
      } else if (sql) {
        conversation.refuseSql();
      } else {
        conversation.behave();
      }
    } catch (SocketException | EOFException e) {
      return; // the client, or heal(), has ended it
    } finally {
      open.remove(peer);
    }
  }

  /** Ends what goes on; new connections meet a server that behaves. */
  void heal() throws IOException {
    healed = true;
    for (RawServer.Peer peer : open) {
      peer.close();
    }
  }

  boolean isHealed() {
    return healed;
  }

  void acknowledged(Set<Long> rows) {
    acknowledged.addAll(rows);
  }

  /** Rows that it acknowledged, honestly or not. */
  Set<Long> acknowledged() {
    return acknowledged;
  }

  long nextTransaction() {
    return transactions.incrementAndGet();
  }

  /** Connections for frames so far. */
  int upgrades() {
    return upgrades.size();
  }

  /** Requests for SQL so far. */
  int requests() {
    return requests.size();
  }

  /** The most connections of one kind that began in the same second. */
  int mostASecond() {
    return Math.max(mostASecond(upgrades), mostASecond(requests));
  }

  private static int mostASecond(List<Long> begins) {
    int most = 0;
    int first = 0;
    for (int i = 0; i < begins.size(); i++) {
      while (begins.get(i) - begins.get(first) >= TimeUnit.SECONDS.toNanos(1)) {
        first++;
      }
      most = Math.max(most, i - first + 1);
    }
    return most;
  }

  @Override
  public void close() throws Exception {
    heal();
    sockets.close();
  }
}
