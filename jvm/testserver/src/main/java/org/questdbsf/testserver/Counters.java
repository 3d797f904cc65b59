package org.questdbsf.testserver;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the server counted, at one moment.
 *
 * <p>Those marked durable are kept in the database root with each commit, survive a SIGKILL of the
 * process, and go on from there at the next start on the same root. A message counts as received
 * when it was decoded and its rows were committed, replays included; as acknowledged just before
 * the OK that covers it is written to the socket.
 *
 * @param connections WebSocket connections open now
 * @param connectionsTotal WebSocket connections ever opened by this process
 * @param messagesReceived durable
 * @param rowsReceived durable
 * @param messagesAcked durable
 * @param rowsAcked durable
 * @param rowsUnacked rows received but not acknowledged on the connections open now
 * @param rowsUnackedAtLastStop {@code rowsUnacked} at the moment when the process that used this
 *     root before ended, in whichever way; 0 for a fresh root
 * @param nacks error replies sent by this process
 * @param pings PING frames received by this process
 * @param upgradesRefused upgrades answered with another status than 101 by this process
 */
public record Counters(
    long connections,
    long connectionsTotal,
    long messagesReceived,
    long rowsReceived,
    long messagesAcked,
    long rowsAcked,
    long rowsUnacked,
    long rowsUnackedAtLastStop,
    long nacks,
    long pings,
    long upgradesRefused) {

  Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("connections", connections);
    json.put("connections_total", connectionsTotal);
    json.put("messages_received", messagesReceived);
    json.put("rows_received", rowsReceived);
    json.put("messages_acked", messagesAcked);
    json.put("rows_acked", rowsAcked);
    json.put("rows_unacked", rowsUnacked);
    json.put("rows_unacked_at_last_stop", rowsUnackedAtLastStop);
    json.put("nacks", nacks);
    json.put("pings", pings);
    json.put("upgrades_refused", upgradesRefused);
    return json;
  }
}
