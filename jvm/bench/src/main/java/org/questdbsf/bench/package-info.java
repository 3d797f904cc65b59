/**
 * JMH benchmarks of the engine. Absolute numbers of one machine say little, so each measures the
 * least that the job could cost (a floor) in the same run, and {@code make bench} prints ratios.
 *
 * <p>Read {@link org.questdbsf.bench.AppendBench} and {@link org.questdbsf.bench.EncodeBench};
 * {@link org.questdbsf.bench.BusyRing} is what the first appends to. {@code LooksBench} counts what
 * many lanes ask a server for. Nothing here is part of the product; no Spark, no QuestDB.
 */
package org.questdbsf.bench;
