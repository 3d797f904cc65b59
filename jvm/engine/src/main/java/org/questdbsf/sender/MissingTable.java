package org.questdbsf.sender;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.Names;
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
          spec.table(),
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
      LOG.info(
          "Table made on {}, unless it was there: {}",
          endpoint,
          CreateTable.shown(spec.createDdl()));
    } catch (SqlFailure e) {
      refused = e; // perhaps another lane was quicker: the second look tells
    }
    try {
      Optional<TableLookup.Found> found = lookup.find(endpoint, spec.table());
      if (found.isPresent()) {
        return withAllColumns(endpoint, spec, found.get());
      }
    } catch (SqlFailure e) {
      throw GateClosed.of(
          false,
          ErrorCode.TABLE_MISSING,
          spec.table(),
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
        spec.table(),
        "table '"
            + spec.table()
            + "' cannot be created on "
            + endpoint
            + " with "
            + CreateTable.shown(spec.createDdl())
            + ": "
            + (refused == null ? "it is still not there afterwards" : SqlWords.of(refused))
            + (hopeless
                ? "; create it by hand or correct the options."
                : "; tried again at the next connect."),
        refused);
  }

  /**
   * Adds the columns for which the statement had no room, but for those that the server makes from
   * the rows. Another lane may do it as well.
   */
  private TableLookup.Found withAllColumns(
      Endpoint endpoint, TableSpec spec, TableLookup.Found found)
      throws GateClosed, InterruptedException {
    Set<String> there =
        found.columns().keySet().stream().map(Names::fold).collect(Collectors.toSet());
    List<TableSpec.Column> rest =
        spec.columns().stream()
            .filter(c -> !there.contains(Names.fold(c.name())) && !CreateTable.isMadeByRows(c))
            .toList();
    if (rest.isEmpty()) {
      return found;
    }
    try {
      for (TableSpec.Column column : rest) {
        sql.query(endpoint, CreateTable.addition(found.table(), column));
      }
      LOG.info("{} columns added to table '{}' on {}", rest.size(), found.table(), endpoint);
      return lookup.find(endpoint, spec.table()).orElse(found);
    } catch (SqlFailure e) {
      boolean hopeless = SqlWords.isFinal(e) || SqlWords.isDenied(e);
      throw GateClosed.of(
          hopeless,
          ErrorCode.TABLE_MISSING,
          found.table(),
          "table '"
              + found.table()
              + "' was created on "
              + endpoint
              + ", but of its "
              + spec.columns().size()
              + " columns "
              + rest.size()
              + " could not be added: "
              + SqlWords.of(e)
              + (hopeless ? "; add them by hand." : "; tried again at the next connect."),
          e);
    }
  }
}
