package org.questdbsf.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;

/** The pages say what the code says. */
class ReferencePagesTest {
  /** This directory, or one above it, is the repository's. */
  private static Path repository() {
    Path here = Path.of("").toAbsolutePath();
    while (!Files.isRegularFile(here.resolve("docs/options.md"))) {
      here = here.getParent();
    }
    return here;
  }

  @Test
  void pagesAreAsTheCodeWouldWriteThem() throws IOException {
    for (Map.Entry<String, String> page : ReferencePages.pages().entrySet()) {
      String written = Files.readString(repository().resolve(page.getKey()));
      assertEquals(page.getValue(), written, page.getKey() + " is out of date: make reference");
    }
  }

  @Test
  void everyTextIsASentence() {
    for (SfOption option : SfOption.values()) {
      assertSentence(option.key(), option.doc());
    }
    for (SfMetric metric : SfMetric.values()) {
      assertSentence(metric.key(), metric.doc());
    }
    for (ErrorCode code : ErrorCode.values()) {
      assertSentence(code.name(), code.meaning());
      assertSentence(code.name(), code.advice());
    }
  }

  private static void assertSentence(String name, String text) {
    assertTrue(text.endsWith("."), name + ": " + text);
    assertEquals(text, text.replaceAll("\\s+", " ").strip(), name);
  }
}
