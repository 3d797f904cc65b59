package org.questdbsf.sender;

import java.util.Optional;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What to do about a table that is not there: have it made as asked for, or say why not. */
final class MissingTable {
  private static final Logger LOG = LoggerFactory.getLogger(MissingTable.class);

  private final SqlOverHttp sql;
  private final TableLookup lookup;

  MissingTable(SqlOverHttp sql, TableLookup lookup) {
    this.sql = sql;
    this.lookup = lookup;
  }

  /** The table as it was made, here or meanwhile by somebody else. */
  TableLookup.Found create(Endpoint endpoint, TableSpec spec)
      throws GateClosed, InterruptedException {
    if (spec.onMissing() == OnMissingTable.FAIL) {
      throw GateClosed.of(
          true,
          ErrorCode.TABLE_MISSING,
          "table '"
              + spec.table()
              + "' is not there on "
              + endpoint
              + "; create it, or set create_table=on (on_missing_table=create) to have it created.",
          null);
    }
    SqlFailure refused = null;
    try {
      sql.query(endpoint, spec.createDdl());
      LOG.info("Table made on {}, unless it was there: {}", endpoint, spec.createDdl());
    } catch (SqlFailure e) {
      refused = e; // perhaps another lane was quicker: the second look tells
    }
    try {
      Optional<TableLookup.Found> found = lookup.find(endpoint, spec.table());
      if (found.isPresent()) {
        return found.get();
      }
    } catch (SqlFailure e) {
      throw GateClosed.of(
          false,
          ErrorCode.TABLE_MISSING,
          "table '"
              + spec.table()
              + "' cannot be looked at on "
              + endpoint
              + ": "
              + SqlWords.of(e)
              + ".",
          e);
    }
    boolean hopeless = refused != null && (SqlWords.isFinal(refused) || SqlWords.isDenied(refused));
    throw GateClosed.of(
        hopeless,
        ErrorCode.TABLE_MISSING,
        "table '"
            + spec.table()
            + "' cannot be created on "
            + endpoint
            + " with "
            + spec.createDdl()
            + ": "
            + (refused == null ? "it is still not there afterwards" : SqlWords.of(refused))
            + (hopeless
                ? "; create it by hand or correct the options."
                : "; tried again at the next connect."),
        refused);
  }
}
