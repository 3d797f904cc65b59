package org.questdbsf.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The short form of {@code make hostile}: some modes of each kind. */
@Timeout(300)
class HostileTest {
  private static final int EVERY = 8;

  static List<Mode> some() {
    List<Mode> all = Mode.all();
    return IntStream.range(0, all.size()).filter(i -> i % EVERY == 0).mapToObj(all::get).toList();
  }

  @ParameterizedTest
  @MethodSource("some")
  void endsAsItHasToAndLosesNothing(Mode mode) throws Exception {
    Trial.Result result = Hostile.run(mode);
    assertEquals(List.of(), result.faults(), mode.name());
    assertEquals(Set.of(), result.lost(), mode.name());
  }

  @Test
  void modesHaveNamesOfTheirOwn() {
    List<Mode> all = Mode.all();
    assertTrue(all.size() >= 80, all.size() + " modes");
    assertEquals(all.size(), all.stream().map(Mode::name).collect(Collectors.toSet()).size());
  }
}
