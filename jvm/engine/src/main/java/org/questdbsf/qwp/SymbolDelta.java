package org.questdbsf.qwp;

import java.util.List;

/**
 * The dictionary section of a message.
 *
 * @param start id of the first entry
 * @param entries texts of ids start, start + 1, ..
 */
public record SymbolDelta(int start, List<String> entries) {}
