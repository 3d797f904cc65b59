package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.SqlFailure;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.qwp.QwpType;

/**
 * Which refusals of SQL are final; the texts are those that a server built from QuestDB's source
 * (9.4.4-SNAPSHOT) answered.
 */
class SqlWordsTest {
  private static final String NOTHING_FOUND =
      "{\"columns\":[{\"name\":\"table_name\",\"type\":\"STRING\"}],\"dataset\":[]}";

  private HttpServer server;
  private Endpoint endpoint;
  private SqlOverHttp sql;
  private volatile int status = 400;
  private volatile String said;

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          boolean statement = !exchange.getRequestURI().getQuery().contains("SELECT");
          String body = "{\"query\":\"q\",\"error\":\"" + said + "\",\"position\":13}";
          byte[] bytes = (statement ? body : NOTHING_FOUND).getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(statement ? status : 200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    endpoint = new Endpoint("127.0.0.1", server.getAddress().getPort());
    sql = new SqlOverHttp(SenderConfig.parse("ws::addr=" + endpoint).connectSettings());
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private boolean isFinal(String text) {
    said = text;
    SqlFailure refused = assertThrows(SqlFailure.class, () -> sql.query(endpoint, "CREATE"));
    assertEquals(text, refused.serverMessage());
    return SqlWords.isFinal(refused);
  }

  /** A word in the name of a table or column makes no refusal a passing one. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "table does not exist [table=block_trades]",
        "table does not exist [table=No space left]",
        "deduplicate key column not found [column=disk_space]",
        "unsupported column type: timeout",
        "Could not create table, invalid table name [table=a?memory]",
        "Duplicate column [name=lock_retry]",
        "Invalid column: busy",
        "[-100]: Invalid metadata at fd=1181116007044. Duplicate column [name=timestamp] at 6",
        "Invalid metadata at fd=1176821039750. Duplicate column [name=timestamp] at 6",
        "cannot modify view [view=table busy]",
        "deduplication is only supported for WAL tables",
      })
  void itIsTheStatement(String text) {
    assertTrue(isFinal(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Could not create table, No space left [size=4096, fd=835371139534]",
        "No space left [size=4096, fd=839666106839]",
        "[28]: No space left [size=4096, fd=839666106839]",
        "table busy [reason=insert]",
        "resource is busy and retry queue is full",
        "timeout, query aborted [fd=17, runtime=60000ms, timeout=60000ms]",
        "cancelled by user [fd=17]",
        "could not open read-write [file=/db/t~1/_meta, errno=24]",
        "global RSS memory limit exceeded [usage=1, RSS_MEM_LIMIT=2]",
        "sun.misc.Unsafe.allocateMemory() OutOfMemoryError [RSS_MEM_USED=1]",
      })
  void itIsTheMoment(String text) {
    assertFalse(isFinal(text));
  }

  @Test
  void onlyA400IsAboutTheStatement() {
    status = 500;
    assertFalse(isFinal("unexpected token [x]"));
    status = 403;
    assertFalse(isFinal("Write permission denied"));
  }

  /** A server that lets nobody make a table is not waited for. */
  @Test
  void aTableThatMayNotBeMadeEndsTheWait() {
    TableSpec spec =
        TableSpec.builder("t")
            .designated("ts", QwpType.TIMESTAMP)
            .onMissing(OnMissingTable.CREATE)
            .build();
    TableCheck check = new TableCheck(sql);
    check.require(spec);
    status = 403;
    said = "replica access is read-only";
    GateClosed e = assertThrows(GateClosed.class, () -> check.admit(endpoint));
    assertTrue(e.terminal());
    assertEquals(ErrorCode.TABLE_MISSING, e.error().code());
    assertTrue(e.getMessage().contains("HTTP 403, replica access is read-only"), e.getMessage());

    status = 400;
    said = "Could not create table, No space left [size=4096, fd=17]";
    assertFalse(assertThrows(GateClosed.class, () -> check.admit(endpoint)).terminal());
  }
}
