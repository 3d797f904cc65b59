package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.questdbsf.sender.Refusal.Hope;

/** The texts are those that a server built from QuestDB's source (9.4.4-SNAPSHOT) answered. */
class RefusalTest {
  private static Hope hope(int status, String text) {
    return Refusal.of(Category.ofStatus(status), text).hope();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          3 | cannot insert into non-WAL table: t
          3 | new columns not allowed [table=a, column=w]
          3 | invalid column name [table=t, column=a.b]
          3 | cannot parse LONG from string [value=ab, column=x]
          3 | type coercion from DATE to TIMESTAMP is not supported
          3 | long arrays are not supported, only double arrays
          5 | invalid magic bytes
          5 | table name too long: 200 bytes (max 127)
          5 | delta symbol dictionary size exceeds limit: 1000001
          6 | failed to create table update details for: vw
          8 | replica access is read-only
          9 | designated timestamp before 1970-01-01 is not allowed
          9 | designated timestamp beyond 9999-12-31 is not allowed
          9 | designated timestamp column cannot be NULL
          9 | invalid GeoHash column type: BYTE
          9 | cannot convert invalid UTF-8 sequence to UTF-16 [seq=\\xFF\\xFE]
          """)
  void thereIsNoHope(int status, String text) {
    assertEquals(Hope.NONE, hope(status, text));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          6 | No space left [size=131072, fd=843961074051]
          6 | could not open read-write [file=/db/t~1/wal1/0/x.d, errno=24]
          9 | No space left [size=4096, fd=17]
          9 | table busy [reason=unknown]
          9 | table is dropped [dirName=t~1, tableName=t]
          9 | metadata changed too many times during WAL append
          9 | replica access is read-only
          12 | this server takes no writes
          """)
  void itPasses(int status, String text) {
    assertEquals(Hope.PASSING, hope(status, text));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          6 | commit error: cached query plan cannot be used because table schema has changed [table=rn]
          9 | too many distinct tables, limit: 10000
          13 | symbols below 7 are not known
          """)
  void aNewConnectionHelps(int status, String text) {
    assertEquals(Hope.NEW_CONNECTION, hope(status, text));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          6 | unexpected error: class A cannot be cast to class B
          6 | commit error: something
          9 | something
          77 | something
          4 | No space left [size=4096, fd=17]
          """)
  void nobodyKnows(int status, String text) {
    assertEquals(Hope.UNCLEAR, hope(status, text));
  }

  /** Names, values and paths in a text say nothing about the refusal. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "No space left [",
        "table busy [",
        "could not ",
        "too many distinct tables, limit: ",
        "commit error: cached query plan cannot be used because table schema has changed [",
        "failed to create table update details for: ",
        "designated timestamp",
      })
  void namesOfUsersDecideNothing(String name) {
    assertEquals(Hope.NONE, hope(6, "failed to create table update details for: " + name));
    assertEquals(Hope.NONE, hope(3, "cannot insert into non-WAL table: " + name));
    assertEquals(
        Hope.NONE, hope(3, "cannot parse LONG from string [value=" + name + ", column=x]"));
    assertEquals(Hope.PASSING, hope(6, "could not open read-write [file=/db/" + name + "]"));
    assertEquals(Hope.UNCLEAR, hope(9, "column does not exist [name=" + name + "]"));
    assertEquals(Hope.UNCLEAR, hope(6, "unexpected error: " + name));
  }

  @Test
  void whatToDoFollowsTheServersWords() {
    Refusal view =
        Refusal.of(Category.INTERNAL_ERROR, "failed to create table update details for: v");
    String told = view.explain("failed to create table update details for: v");
    assertTrue(
        told.startsWith("failed to create table update details for: v. Either it is a view"));
    assertEquals("no", Refusal.of(Category.WRITE_ERROR, "no").explain("no"));
  }
}
