package org.questdbsf.spark;

/** Writes one flat or nested JSON object, for what Python reads. */
final class JsonObject {
  private final StringBuilder text = new StringBuilder("{");

  JsonObject put(String name, long value) {
    name(name).append(value);
    return this;
  }

  /** A text, or null. */
  JsonObject put(String name, String value) {
    name(name);
    if (value == null) {
      text.append("null");
    } else {
      JsonText.quote(text, value);
    }
    return this;
  }

  JsonObject put(String name, JsonObject value) {
    name(name).append(value);
    return this;
  }

  private StringBuilder name(String name) {
    if (text.length() > 1) {
      text.append(',');
    }
    JsonText.quote(text, name);
    return text.append(':');
  }

  @Override
  public String toString() {
    return text + "}";
  }
}
