package org.questdbsf.testserver;

/**
 * What an acknowledgement says of a table.
 *
 * @param table name as the client wrote it
 * @param seqTxn sequencer transaction that holds the rows, or a later one
 */
record TableTxn(String table, long seqTxn) {}
