package org.questdbsf.net;

/**
 * A table and a sequencer transaction of it, as in the server's acknowledgements.
 *
 * @param table name as the server writes it
 * @param seqTxn transaction in the table's WAL
 */
public record TableTxn(String table, long seqTxn) {}
