package org.questdbsf.sender;

import java.util.Collection;
import java.util.Optional;

/** Finds the name that a mistyped one was probably meant to be. */
public final class EditDistance {
  private EditDistance() {}

  /** The nearest of the names, if it differs in at most a third of its letters. */
  public static Optional<String> nearest(String typed, Collection<String> names) {
    String best = null;
    int least = Math.max(2, typed.length() / 3) + 1;
    for (String name : names) {
      int distance = between(typed, name);
      if (distance < least || (distance == least && best != null && name.compareTo(best) < 0)) {
        least = distance;
        best = name;
      }
    }
    return Optional.ofNullable(best);
  }

  /** Insertions, deletions, replacements and swaps of neighbours that turn one into the other. */
  static int between(String a, String b) {
    int[][] cost = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      cost[i][0] = i;
    }
    for (int j = 0; j <= b.length(); j++) {
      cost[0][j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      for (int j = 1; j <= b.length(); j++) {
        int same = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        int least = Math.min(cost[i - 1][j], cost[i][j - 1]) + 1;
        least = Math.min(least, cost[i - 1][j - 1] + same);
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        cost[i][j] = swapped ? Math.min(least, cost[i - 2][j - 2] + 1) : least;
      }
    }
    return cost[a.length()][b.length()];
  }
}
