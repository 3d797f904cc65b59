package org.questdbsf.spark;

import java.io.Serializable;

/**
 * What an executor tells the driver outside of a task's commit: the same report, for a query.
 *
 * @param queryId Spark's id of the query that used the pool last
 */
record SfNews(String queryId, TaskReport report) implements Serializable {}
