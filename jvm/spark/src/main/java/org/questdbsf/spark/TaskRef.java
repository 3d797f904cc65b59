package org.questdbsf.spark;

import java.io.Serializable;

/**
 * Which task rows are of.
 *
 * @param queryId Spark's id of the query, or of the batch write
 * @param batch the micro-batch, −1 in a batch write
 * @param partition the partition, from 0
 */
record TaskRef(String queryId, long batch, int partition) implements Serializable {}
