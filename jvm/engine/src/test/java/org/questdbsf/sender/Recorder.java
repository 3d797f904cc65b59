package org.questdbsf.sender;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.sender.ScriptServer.Session;
import org.questdbsf.sender.ScriptServer.Upgrade;

/**
 * A script that writes down what came on which connection. Frames are told apart by the number in
 * their first row; dictionary messages are -1.
 */
final class Recorder implements ScriptServer.Script {
  /** What to do with a message. */
  interface Answer {
    void to(Session session, long sequence, long number, QwpMessage message);
  }

  static final long DICTIONARY = -1;

  final Database database = new Database();
  final List<List<Long>> connections = new CopyOnWriteArrayList<>();
  final List<String> pings = new CopyOnWriteArrayList<>();
  final Answer answer;
  IntFunction<Upgrade> upgrades = connection -> Upgrade.accept();
  volatile boolean pong = true;
  volatile Runnable onPing = () -> {};

  Recorder(Answer answer) {
    this.answer = answer;
  }

  /** One that accepts and acknowledges everything. */
  static Recorder accepting() {
    Recorder[] self = new Recorder[1];
    self[0] = new Recorder((session, sequence, n, m) -> self[0].accept(session, sequence, m));
    return self[0];
  }

  @Override
  public Upgrade upgrade(int connection) {
    Upgrade upgrade = upgrades.apply(connection);
    if (upgrade.status() == 101) {
      connections.add(new CopyOnWriteArrayList<>());
    }
    return upgrade;
  }

  /** Number of the present connection among those that were accepted, from 0. */
  int connection() {
    return connections.size() - 1;
  }

  @Override
  public void message(Session session, long sequence, QwpMessage message) {
    long number =
        message.tables().isEmpty()
            ? DICTIONARY
            : Database.numbersOf(message.tables().get(0)).get(0);
    connections.get(connection()).add(number);
    answer.to(session, sequence, number, message);
  }

  @Override
  public boolean ping(Session session) {
    pings.add("ping");
    onPing.run();
    return pong;
  }

  /** Accepts and acknowledges. */
  void accept(Session session, long sequence, QwpMessage message) {
    database.accept(message);
    session.ok(sequence);
  }

  /** All that came on all connections, in order. */
  List<Long> all() {
    List<Long> all = new ArrayList<>();
    connections.forEach(all::addAll);
    return all;
  }
}
