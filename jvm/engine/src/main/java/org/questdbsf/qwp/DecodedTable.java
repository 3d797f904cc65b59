package org.questdbsf.qwp;

import java.util.List;

/**
 * Rows of one table.
 *
 * @param name the table
 * @param rows how many rows
 * @param columns in the order of the message; the designated timestamp has the empty name
 */
public record DecodedTable(String name, int rows, List<DecodedColumn> columns) {}
