/**
 * A test fixture: a QWP endpoint of our own in front of a real QuestDB 9.3.4 in the same JVM.
 *
 * <p>QWP needs a server that speaks it. The newest QuestDB that a package registry serves has
 * storage, WAL, DEDUP and SQL, but no QWP. So this package reads QWP messages itself and writes
 * their rows into real WAL tables, where they are checked by SQL. It proves rows, not the protocol:
 * its decoder and our encoder come from one reading of the specification. What proves the protocol
 * is the released QuestDB client, which has to work against it. It is not QuestDB 10, never says it
 * is, and is not for production.
 *
 * <p>Reading order: {@link org.questdbsf.testserver.TestServer} (the whole), {@code QuestDb} (the
 * engine), {@code Front} and {@code HttpGate} (one port: upgrade, control, everything else passed
 * on), {@code QwpHandler} (WebSocket frames in and out), {@code Session} (order, acknowledgements,
 * faults), {@code MessageApplier}, {@code ConnectionTables} (writers that outlive their tables),
 * {@code TableMaker} and {@code BlockWriter} (rows into WAL tables), {@code CellWriters} and {@code
 * TypeRefusals} (which column takes which value), {@link org.questdbsf.testserver.Script} (what a
 * test may ask for), {@code CounterFile}.
 *
 * <p>It behaves as a server built from QuestDB's source does (9.4.4-SNAPSHOT, July 2026), where it
 * loses acknowledged rows too. Where it is stricter is listed in docs/development.md.
 *
 * <p>May not come in: anything of {@code slot}, {@code net} or {@code sender}; a server that shares
 * the client's transport code proves less. Only {@code qwp} (decoder) and {@code error} are used.
 */
package org.questdbsf.testserver;
