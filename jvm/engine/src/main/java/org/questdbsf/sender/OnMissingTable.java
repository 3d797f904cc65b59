package org.questdbsf.sender;

/** What is done about a table that is not there: {@code on_missing_table}. */
public enum OnMissingTable {
  /** Nothing is shipped; the sender ends with an error that names the table. */
  FAIL,
  /** It is created with the asked-for DDL. */
  CREATE,
  /**
   * The server makes it when the first rows come, as it does for plain rows. The sink does not ask
   * for this.
   */
  BY_SERVER
}
