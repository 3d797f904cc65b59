package org.questdbsf.net;

/** Takes the header's value from {@link Credentials} and makes sure that it can be sent. */
final class Authorization {
  private Authorization() {}

  static String resolve(Endpoint endpoint, Credentials credentials) throws ConnectFailure {
    String value;
    try {
      value = credentials.authorization();
    } catch (RuntimeException e) {
      throw ConnectFailure.transport(
          endpoint, "cannot log in to " + endpoint + ": " + Channels.describe(e), e);
    }
    // checked here, because Netty's own message would show the value
    for (int i = 0; value != null && i < value.length(); i++) {
      char c = value.charAt(i);
      if (c < ' ' || c > '~') {
        throw ConnectFailure.transport(
            endpoint,
            "cannot log in to "
                + endpoint
                + ": the credentials hold a character that no HTTP header can carry, at index "
                + i
                + " of the header; a line break at the end of a token file?",
            null);
      }
    }
    return value;
  }
}
