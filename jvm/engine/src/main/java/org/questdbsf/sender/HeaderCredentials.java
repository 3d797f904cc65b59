package org.questdbsf.sender;

import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.Credentials;

/**
 * Basic or bearer authentication whose secret is looked up at each connect.
 *
 * @param username user of basic authentication, or null for a bearer token
 */
record HeaderCredentials(String username, SecretRef secret) implements Credentials {
  @Override
  public String authorization() {
    String resolved = secret.resolve();
    for (int i = 0; i < resolved.length(); i++) {
      if (Character.isISOControl(resolved.charAt(i))) {
        throw new SfException(
            ErrorCode.SECRET_UNRESOLVED,
            (username == null ? "token" : "password")
                + " ("
                + secret
                + ") has a control character at position "
                + i
                + "; remove it.");
      }
    }
    return username == null ? Credentials.bearer(resolved) : Credentials.basic(username, resolved);
  }
}
