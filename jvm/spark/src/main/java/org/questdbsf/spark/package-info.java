/**
 * The Spark sink {@code questdb-sf}. The only room that sees Spark, and it sees it through Java
 * interfaces only: no class of Scala's library is referred to, so one jar serves Scala 2.12 and
 * 2.13.
 *
 * <p>Reading order: {@link org.questdbsf.spark.QuestDbSfProvider}, {@link
 * org.questdbsf.spark.SfTable}, then the writes.
 */
package org.questdbsf.spark;
