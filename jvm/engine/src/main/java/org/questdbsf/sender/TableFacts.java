package org.questdbsf.sender;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a table was found to be at its last check.
 *
 * @param table its name as the server writes it
 * @param columns type by column name, as the server writes them, in the table's order
 * @param designated its designated timestamp; empty without
 * @param dedupKeys columns of its DEDUP UPSERT KEYS; empty without
 * @param walEnabled whether it is a WAL table
 * @param ttl which rows the server would discard for their age
 */
public record TableFacts(
    String table,
    Map<String, String> columns,
    Optional<String> designated,
    List<String> dedupKeys,
    boolean walEnabled,
    TtlFloor ttl) {}
