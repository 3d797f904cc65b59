package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

class SymbolDictionaryTest {
  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(int id) {
    return (id % 3 == 0 ? "sümbol" : "x") + "-".repeat(id % 200) + id;
  }

  @Test
  void idsAreDenseAndTheSameForBytesAndText() {
    SymbolDictionary dictionary = new SymbolDictionary();
    for (int id = 0; id < 20_000; id++) {
      byte[] bytes = utf8("__" + text(id) + "__");
      int given =
          id % 2 == 0 ? dictionary.idOf(text(id)) : dictionary.idOf(bytes, 2, bytes.length - 4);
      assertEquals(id, given);
    }
    assertEquals(20_000, dictionary.size());
    for (int id = 0; id < 20_000; id++) {
      byte[] bytes = utf8(text(id));
      assertEquals(id, dictionary.idOf(bytes, 0, bytes.length));
      assertEquals(id, dictionary.idOf(new StringBuilder(text(id))));
      assertArrayEquals(bytes, dictionary.utf8(id));
    }
    assertEquals(20_000, dictionary.idOf(""));
    assertEquals(0, dictionary.utf8(20_000).length);
  }

  /** So many texts that hashes of 32 bits collide: then only the bytes tell them apart. */
  @Test
  void textsWithOneHashAreToldApart() {
    SymbolDictionary dictionary = new SymbolDictionary();
    Random random = new Random(11);
    Set<String> seen = new HashSet<>();
    while (seen.size() < 600_000) {
      String number = Long.toString(random.nextLong() >>> 1, 36);
      String digits = number.substring(0, Math.min(number.length(), 5 + random.nextInt(4)));
      // The first eight bytes, the last eight, or all are alike but for these digits.
      String text =
          switch (seen.size() % 3) {
            case 0 -> "12345678" + digits;
            case 1 -> digits + "12345678";
            default -> digits + "12345678".substring(digits.length());
          };
      if (seen.add(text)) {
        byte[] bytes = utf8(text);
        assertEquals(seen.size() - 1, dictionary.idOf(bytes, 0, bytes.length), text);
      }
    }
  }

  @Test
  void encodedBytesAreThoseOfTheMessage() throws Exception {
    SymbolDictionary dictionary = new SymbolDictionary();
    for (int id = 0; id < 500; id++) {
      dictionary.idOf(text(id));
    }
    MessageEncoder encoder = new MessageEncoder();
    encoder.encodeDictionary(dictionary, 100, 400);
    assertEquals(encoder.length(), MessageEncoder.overheadBytes(dictionary, 100, 400));
    SymbolDelta delta = MessageDecoder.decodeDelta(encoder.array(), 0, encoder.length());
    assertEquals(100, delta.start());
    assertEquals(300, delta.entries().size());
    assertEquals(text(399), delta.entries().get(299));
  }

  @Test
  void rollbacksAmongRandomTexts() {
    Random random = new Random(11);
    SymbolDictionary dictionary = new SymbolDictionary();
    List<String> model = new ArrayList<>();
    Map<String, Integer> ids = new HashMap<>();
    for (int i = 0; i < 50_000; i++) {
      if (random.nextInt(50) == 0) {
        int size = model.size() - random.nextInt(Math.min(60, model.size()) + 1);
        dictionary.rollbackTo(size);
        while (model.size() > size) {
          ids.remove(model.remove(model.size() - 1));
        }
      }
      String text = "k" + random.nextInt(3_000);
      Integer known = ids.get(text);
      int id = dictionary.idOf(text);
      assertEquals(known == null ? model.size() : known, id);
      if (known == null) {
        ids.put(text, id);
        model.add(text);
      }
      assertEquals(model.size(), dictionary.size());
    }
    for (int id = 0; id < model.size(); id++) {
      assertArrayEquals(utf8(model.get(id)), dictionary.utf8(id));
    }
    assertThrows(IndexOutOfBoundsException.class, () -> dictionary.rollbackTo(model.size() + 1));
  }

  @Test
  void limits() {
    SymbolDictionary dictionary = new SymbolDictionary(2);
    dictionary.idOf("a");
    dictionary.idOf("b");
    SfException e = assertThrows(SfException.class, () -> dictionary.idOf("c"));
    assertEquals(ErrorCode.SYMBOLS_EXHAUSTED, e.code());
    assertEquals(1, dictionary.idOf("b"));
    SymbolDictionary roomy = new SymbolDictionary();
    assertEquals(0, roomy.idOf("x".repeat(QwpLimits.MAX_SYMBOL_BYTES)));
    e =
        assertThrows(
            SfException.class, () -> roomy.idOf("x".repeat(QwpLimits.MAX_SYMBOL_BYTES + 1)));
    assertEquals(ErrorCode.VALUE_INVALID, e.code());
    assertEquals(1, roomy.size());
  }

  /** The send loop reads ids below a size that it was told, while the producer adds and grows. */
  @Test
  void anotherThreadReadsWhatWasPublished() throws Exception {
    SymbolDictionary dictionary = new SymbolDictionary();
    AtomicInteger published = new AtomicInteger();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    int last = 60_000;
    Thread reader =
        new Thread(
            () -> {
              MessageEncoder encoder = new MessageEncoder();
              Random random = new Random(3);
              try {
                for (int size = 0; size < last; size = published.get()) {
                  if (size == 0) {
                    Thread.onSpinWait();
                    continue;
                  }
                  int from = Math.max(0, size - 1 - random.nextInt(50));
                  encoder.encodeDictionary(dictionary, from, size);
                  List<String> entries =
                      MessageDecoder.decodeDelta(encoder.array(), 0, encoder.length()).entries();
                  for (int id = from; id < size; id++) {
                    assertEquals(text(id), entries.get(id - from));
                  }
                  assertArrayEquals(utf8(text(from)), dictionary.utf8(from));
                }
              } catch (Throwable t) {
                failure.set(t);
              }
            });
    reader.start();
    for (int id = 0; id < last && failure.get() == null; id++) {
      // Cancelled rows: an id is given to another text before it is published.
      dictionary.idOf("cancelled" + id);
      dictionary.rollbackTo(id);
      dictionary.idOf(text(id));
      published.set(id + 1);
    }
    published.set(last);
    reader.join();
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
    assertTrue(dictionary.size() == last);
  }
}
