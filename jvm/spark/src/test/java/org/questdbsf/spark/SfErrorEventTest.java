package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.Category;
import org.questdbsf.sender.Policy;
import org.questdbsf.sender.SenderError;

/** What an error event says, and that its JSON is what Python reads. */
class SfErrorEventTest {
  private static final Instant AT = Instant.parse("2026-07-01T10:00:00Z");
  private static final TaskRef TASK = new TaskRef("q", 4, 2);

  private static SenderError error(long from, long to, String table) {
    return new SenderError(
        Category.SCHEMA_MISMATCH,
        Policy.DROP,
        3,
        7,
        from,
        to,
        table,
        5,
        "say \"no\"\u0001",
        "h:9000",
        AT,
        "/letters/f");
  }

  private static FrameLog frames() {
    FrameLog frames = new FrameLog();
    frames.begin(8, new FrameLog.Rows(TASK, "t", 11, 15), -1);
    frames.end(8);
    return frames;
  }

  @Test
  void aRefusedFrameIsToldWithItsRows() {
    SfErrorEvent event = SfErrorEvent.of(error(8, 8, null), "lane-1", frames(), "other");
    assertEquals(
        "SCHEMA_MISMATCH (status 0x03), frame 8, table 't', rows 11 to 15 of partition 2 of batch"
            + " 4, host h:9000, policy DROP: say \"no\"\u0001 [kept in /letters/f]",
        event.describe());
    assertEquals("q", event.queryId(), "that of the rows");
  }

  @Test
  void theServersTableGoesBeforeThatOfTheRows() {
    assertEquals("u", SfErrorEvent.of(error(8, 8, "u"), "lane-1", frames(), "q").table());
  }

  @Test
  void anErrorAboutNoFrameTellsNone() {
    SfErrorEvent event = SfErrorEvent.of(error(9, 8, null), "lane-1", frames(), "asked");
    assertFalse(event.describe().contains("frame"), event.describe());
    assertEquals(-1, event.fromFsn());
    assertNull(event.table());
    assertEquals("asked", event.queryId());
    assertEquals(-1, event.partition());
  }

  @Test
  void aFrameThatNobodyRemembersHasNoRows() {
    SfErrorEvent event = SfErrorEvent.of(error(3, 3, null), "lane-1", frames(), "asked");
    assertEquals(3, event.fromFsn());
    assertEquals(0, event.fromRow());
    assertEquals("asked", event.queryId());
  }

  @Test
  void aRowThatCannotBeWrittenHasItsCodeAsCategory() {
    SfException invalid = new SfException(ErrorCode.VALUE_INVALID, "column 'x': too long");
    SfErrorEvent event = SfErrorEvent.of(invalid, TASK, "t", 12);
    assertEquals(
        "VALUE_INVALID, table 't', rows 12 to 12 of partition 2 of batch 4, policy HALT: column"
            + " 'x': too long",
        event.describe());
  }

  @Test
  void theJsonHasEveryPartOfTheEvent() throws Exception {
    SfErrorEvent event = SfErrorEvent.of(error(8, 8, null), "lane-1", frames(), "q");
    JsonNode json = new ObjectMapper().readTree(SfEvent.of(event).toJson());
    assertEquals("error", json.path("kind").asText());
    assertEquals(event.describe(), json.path("message").asText());
    JsonNode inner = json.path("error");
    assertEquals("say \"no\"\u0001", inner.path("message").asText());
    assertEquals(8, inner.path("from_fsn").asLong());
    assertEquals(15, inner.path("to_row").asLong());
    assertEquals("/letters/f", inner.path("dead_letter").asText());
    TreeSet<String> names = new TreeSet<>();
    inner.fieldNames().forEachRemaining(names::add);
    assertEquals(SfErrorEvent.class.getRecordComponents().length, names.size(), names.toString());
  }
}
