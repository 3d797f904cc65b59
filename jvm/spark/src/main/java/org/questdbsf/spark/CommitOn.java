package org.questdbsf.spark;

/** When a task commits, and where its rows wait until the server has them. */
enum CommitOn {
  ACK(
      "a task commits when the server acknowledged all its rows; until then they wait in memory and"
          + " Spark's checkpoint is the truth",
      "an outage of QuestDB (the batch waits), a lost task, executor or driver (Spark sends its"
          + " rows again)",
      "the loss of what the server acknowledged and had not yet flushed"),
  STORE(
      "a task commits when its rows are in the local slot; from then on the slot is the truth",
      "an outage of QuestDB without stopping (until sf_max_total_bytes are full), a lost task,"
          + " executor process or driver",
      "the loss of an executor's disk before its slots are sent"),
  DURABLE(
      "a task commits when the server acknowledged all its rows as durable; until then they wait in"
          + " memory and Spark's checkpoint is the truth",
      "an outage or the loss of a QuestDB host, a lost task, executor or driver (Spark sends its"
          + " rows again)",
      "the loss of the server's object store");

  private final String meaning;
  private final String survives;
  private final String notSurvived;

  CommitOn(String meaning, String survives, String notSurvived) {
    this.meaning = meaning;
    this.survives = survives;
    this.notSurvived = notSurvived;
  }

  /** As users write it. */
  String word() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }

  /** One sentence on when a task commits. */
  String meaning() {
    return meaning;
  }

  /** One line for the log at start. */
  String describe() {
    return "commit_on="
        + word()
        + ": "
        + meaning
        + ". Rows survive "
        + survives
        + "; not "
        + notSurvived
        + ".";
  }

  /** Whether rows wait in slots on disk. */
  boolean onDisk() {
    return this == STORE;
  }
}
