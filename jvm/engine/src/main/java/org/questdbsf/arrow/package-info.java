/**
 * Whole tables in Arrow's memory layout to frames: the way of {@code questdb_sf.sender} in Python,
 * which hands the buffers of an Arrow table over as they are. No Arrow library is needed or known
 * here; the layout is a public format (Arrow columnar format, section on physical layout).
 *
 * <p>In reading order: {@link org.questdbsf.arrow.ArrowWriter} belongs to a sender and keeps a
 * block a table; {@link org.questdbsf.arrow.ArrowBatch} takes the buffers of each column, cuts the
 * rows into frames, has {@link org.questdbsf.qwp.BulkColumn} fill the block, and publishes it.
 *
 * <p>Uses {@code sender}, {@code qwp} and {@code error}; nothing in the engine uses it.
 */
package org.questdbsf.arrow;
