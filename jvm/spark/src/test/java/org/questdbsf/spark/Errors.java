package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.function.Executable;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Checks that something fails with our exception, and what its message says. */
final class Errors {
  private Errors() {}

  static SfException of(ErrorCode code, Executable action, String... words) {
    SfException e = assertThrows(SfException.class, action);
    assertEquals(code, e.code(), e.getMessage());
    says(e.getMessage(), words);
    return e;
  }

  static void says(String message, String... words) {
    for (String word : words) {
      assertTrue(message.contains(word), "'" + word + "' is not in: " + message);
    }
  }

  /** Our exception among the causes of what Spark throws. */
  static SfException within(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof SfException ours) {
        return ours;
      }
    }
    throw new AssertionError("no SfException among the causes", thrown);
  }
}
