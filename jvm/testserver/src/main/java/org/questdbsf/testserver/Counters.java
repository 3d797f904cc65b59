package org.questdbsf.testserver;

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
    long upgradesRefused) {}
