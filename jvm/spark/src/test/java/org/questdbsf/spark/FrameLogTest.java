package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Which rows are in which frames. */
class FrameLogTest {
  private static final TaskRef TASK = new TaskRef("q", 1, 2);

  private final FrameLog log = new FrameLog();

  private static FrameLog.Rows rows(long from, long to) {
    return new FrameLog.Rows(TASK, "t", from, to);
  }

  @Test
  void rowsAreFoundByEachOfTheirFrames() {
    log.begin(0, rows(1, 10), -1);
    log.end(2);
    log.begin(3, rows(11, 20), -1);
    log.end(3);
    assertEquals(rows(1, 10), log.find(0).orElseThrow());
    assertEquals(rows(1, 10), log.find(2).orElseThrow());
    assertEquals(rows(11, 20), log.find(3).orElseThrow());
    assertTrue(log.find(4).isEmpty());
  }

  @Test
  void anErrorMayComeBeforeTheLastFrameIsKnown() {
    log.begin(5, rows(1, 10), -1);
    assertEquals(rows(1, 10), log.find(5).orElseThrow());
    assertEquals(rows(1, 10), log.find(9).orElseThrow());
    assertTrue(log.find(4).isEmpty());
    log.end(6);
    assertTrue(log.find(9).isEmpty());
  }

  @Test
  void rowsThatWerePublishedInNoFrameAreForgotten() {
    log.begin(0, rows(1, 10), -1);
    log.end(-1);
    assertTrue(log.find(0).isEmpty());
    log.begin(0, rows(1, 5), -1);
    log.end(0);
    assertEquals(rows(1, 5), log.find(0).orElseThrow());
  }

  @Test
  void acknowledgedFramesGoWhenThereAreManyAndOthersStay() {
    for (int fsn = 0; fsn < 3000; fsn++) {
      log.begin(fsn, rows(fsn, fsn), fsn < 2000 ? fsn - 1 : 1999);
      log.end(fsn);
    }
    assertTrue(log.find(10).isEmpty());
    for (int fsn = 2000; fsn < 3000; fsn++) {
      assertEquals(rows(fsn, fsn), log.find(fsn).orElseThrow());
    }
  }

  @Test
  void thereIsAnEndToWhatIsKept() {
    for (int fsn = 0; fsn < 40_000; fsn++) {
      log.begin(fsn, rows(fsn, fsn), -1);
      log.end(fsn);
    }
    assertTrue(log.find(0).isEmpty());
    assertEquals(rows(39_999, 39_999), log.find(39_999).orElseThrow());
  }
}
