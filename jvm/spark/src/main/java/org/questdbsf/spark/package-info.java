/**
 * The Spark sink {@code questdb-sf}. The only room that sees Spark, and it sees it through Java
 * interfaces only: no class of Scala's library is referred to, so one jar serves Scala 2.12 and
 * 2.13 (a test reads every class file for it).
 *
 * <p>Reading order. On the driver: {@link org.questdbsf.spark.QuestDbSfProvider}, {@link
 * org.questdbsf.spark.SfTable} (one run of a query), {@code SfWriteBuilder}, {@code SfWrite},
 * {@code SfStreamingWrite} and {@code SfBatchWrite}; what is checked before a row is sent: {@code
 * SfOptions} over the table {@link org.questdbsf.spark.SfOption}, {@code OptionRules}, {@code
 * StreamRules}, {@code SchemaCheck} with {@code ColumnTypes}, {@code StartCheck}. On the executors:
 * {@code SfWriterFactory}, {@code SfDataWriter} (one task), {@code TaskRows}, {@code RowEncoder}
 * with its {@code FieldWriter}s; {@code LanePools}, {@code LanePool}, {@code Lane} (a sender with
 * its ring, lent to one task at a time), {@code LaneOpener}, {@code Adopter}. Back to the driver:
 * {@code TaskMetrics} (and {@code SqlTab}, for what a commit counts), {@code TaskReport} in an
 * {@code SfCommitMessage}, {@code DriverLedger}, and the table {@link
 * org.questdbsf.spark.SfMetric}. Between commits the same report goes by {@code Push}, through
 * {@link org.questdbsf.spark.SfPlugin} where executors are other processes, to {@link
 * org.questdbsf.spark.SfQueries}, which finds the ledger, and hears of executors that are gone from
 * {@code GoneExecutors}; errors and events go on to {@link org.questdbsf.spark.SfHandlers}.
 *
 * <p>Threads: tasks wait interruptibly and touch no file of a slot; {@code Housekeeper} has the
 * threads of this room on executors: one for what is quick, and one for each lane while it is
 * opened or closed; on the driver each handler has one. Never an exception out of {@code abort}.
 */
package org.questdbsf.spark;
