package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.net.SqlResult;
import org.questdbsf.qwp.QwpType;

/** Tables of so many columns that a statement with all of them is too long for a request. */
class WideTableTest extends WithTestServer {
  private Endpoint endpoint;
  private SqlOverHttp sql;

  @BeforeEach
  void connect() {
    endpoint = new Endpoint("127.0.0.1", server.port());
    sql = new SqlOverHttp(SenderConfig.parse("ws::addr=" + endpoint).connectSettings());
  }

  private TableCheck check(TableSpec spec) {
    TableCheck check = new TableCheck(sql);
    check.require(spec);
    return check;
  }

  /**
   * A statement with all of them is more than a server takes as the head of a request. What a
   * server makes of rows by itself may come with them.
   */
  @Test
  void aTableOfVeryManyColumnsIsCreatedWithThoseThatRowsWouldNotMake() throws Exception {
    TableSpec.Builder spec = TableSpec.builder("wide");
    for (int n = 0; n < 1_500; n++) {
      spec.column("sensor reading %05d".formatted(n), n % 2 == 0 ? QwpType.LONG : QwpType.SYMBOL);
    }
    for (int n = 0; n < 500; n++) {
      spec.column("spot with a name of its own %05d".formatted(n), QwpType.GEOHASH, "GEOHASH(7c)");
    }
    spec.column("key", QwpType.SYMBOL)
        .designated("at", QwpType.TIMESTAMP)
        .dedupKeys(List.of("key"))
        .onMissing(OnMissingTable.CREATE);
    TableSpec wide = spec.build();
    assertTrue(wide.createDdl().length() < 12 * 1024, wide.createDdl().length() + " characters");
    check(wide).admit(endpoint);
    Map<String, String> types = new HashMap<>();
    long end = System.nanoTime() + 60_000_000_000L;
    while (types.size() < 502 && System.nanoTime() < end) {
      SqlResult columns = sql.query(endpoint, "SELECT * FROM table_columns('wide')");
      for (int i = 0; i < columns.rows().size(); i++) {
        types.put((String) columns.value(i, "column"), (String) columns.value(i, "type"));
      }
      Thread.sleep(10);
    }
    assertEquals(502, types.size());
    assertEquals("GEOHASH(7c)", types.get("spot with a name of its own 00499"));
    TableCheck again = check(wide);
    again.admit(endpoint);
    assertEquals(
        List.of("at", "key"),
        again.facts("wide").orElseThrow().dedupKeys().stream().sorted().toList());
  }

  @Test
  void asManyColumnsAsFitAreCreatedInTheirOrder() throws Exception {
    TableSpec.Builder spec = TableSpec.builder("narrower").designated("at", QwpType.TIMESTAMP);
    for (int n = 0; n < 2_000; n++) {
      spec.column("c%05d".formatted(n), QwpType.LONG);
    }
    TableSpec narrower = spec.onMissing(OnMissingTable.CREATE).build();
    check(narrower).admit(endpoint);
    SqlResult columns = sql.query(endpoint, "SELECT * FROM table_columns('narrower')");
    int made = columns.rows().size();
    assertTrue(made > 300 && made < 2_000, made + " columns");
    assertEquals("c00000", columns.value(0, "column"));
    assertEquals("c%05d".formatted(made - 2), columns.value(made - 2, "column"));
  }

  @Test
  void aLongStatementIsCutInMessages() {
    String statement = "CREATE TABLE " + "x".repeat(5_000);
    assertEquals(CreateTable.shown("SELECT 1"), "SELECT 1");
    assertTrue(CreateTable.shown(statement).length() < 250);
    assertTrue(CreateTable.shown(statement).endsWith("… (5013 characters)"));
  }
}
