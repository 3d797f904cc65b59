package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Map;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** Which queries the driver can be asked about. */
class SfQueriesTest {
  @Test
  void aRunningQueryStaysWhateverIsWrittenBesideIt() {
    assertNotNull(TestSpark.SESSION, "a table needs a session");
    StructType schema = StructType.fromDDL("id long, ts timestamp");
    SfTable table = new SfTable(schema, Map.of("addr", "h:1", "table", "t", "timestamp", "ts"));
    SfQueries.begin("running", table);
    for (int n = 0; n < 300; n++) {
      SfQueries.begin("batch " + n, table);
      SfQueries.end("batch " + n, table.ledger(), "stopped");
    }
    assertNotNull(SfQueries.counters("running"));
    assertNotNull(SfQueries.counters("batch 299"), "the last ones can still be asked");
    assertNull(SfQueries.counters("batch 0"), "and there is a bound");
    SfQueries.end("running", table.ledger(), "stopped");
  }
}
