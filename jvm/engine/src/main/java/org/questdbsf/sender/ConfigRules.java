package org.questdbsf.sender;

import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** The rules that concern more than one key, or more than a range (client spec section 4). */
final class ConfigRules {
  private static final int MAX_SENDER_ID = 200;

  private ConfigRules() {}

  static void check(SenderConfig c) {
    authentication(c);
    tls(c);
    slot(c);
    budget(c);
    durability(c);
    timing(c);
  }

  private static void authentication(SenderConfig c) {
    boolean user = c.isSet(ConnectKey.USERNAME);
    boolean password = c.isSet(ConnectKey.PASSWORD);
    if (c.isSet(ConnectKey.TOKEN) && (user || password)) {
      throw conflict(
          "token and username or password are both set; keep the token (bearer) or the other two"
              + " (basic).");
    }
    if (user != password) {
      throw new SfException(
          ErrorCode.CONFIG_MISSING,
          user
              ? "username is set without password; give both, or a token."
              : "password is set without username; give both, or a token.");
    }
    c.username()
        .filter(name -> name.contains(":"))
        .ifPresent(
            name -> {
              throw invalid(
                  "username="
                      + name
                      + " has a colon, which basic authentication cannot"
                      + " carry; use another user or a token.");
            });
  }

  private static void tls(SenderConfig c) {
    ConnectKey[] keys = {
      ConnectKey.TLS_VERIFY, ConnectKey.TLS_ROOTS, ConnectKey.TLS_ROOTS_PASSWORD
    };
    for (ConnectKey key : keys) {
      if (c.isSet(key) && !c.tls()) {
        throw conflict(
            key.key() + " is set without TLS; use the scheme wss (or tls=on), or drop the key.");
      }
    }
    if (c.isSet(ConnectKey.TLS_ROOTS) && !c.tlsVerify()) {
      throw conflict(
          "tls_roots is set with tls_verify=unsafe_off, which would not read it; drop one of"
              + " them.");
    }
    if (c.isSet(ConnectKey.TLS_ROOTS_PASSWORD) && !c.isSet(ConnectKey.TLS_ROOTS)) {
      throw conflict("tls_roots_password is set without tls_roots; give the trust store too.");
    }
  }

  private static void slot(SenderConfig c) {
    String id = c.senderId();
    if (!id.matches("[A-Za-z0-9_-]{1," + MAX_SENDER_ID + "}")) {
      throw invalid(
          "sender_id="
              + id
              + " cannot name a slot; use 1 to "
              + MAX_SENDER_ID
              + " letters, digits, _ and -, no path.");
    }
    boolean disk = c.sfDir().isPresent();
    if (!disk && c.isSet(ConnectKey.DRAIN_ORPHANS) && c.drainOrphans() != DrainOrphans.OFF) {
      throw conflict("drain_orphans is on without sf_dir; give the directory to look in.");
    }
    if ("2".equals(c.value(ConnectKey.SF_FORMAT))) {
      throw invalid("sf_format=2 is not written by this version; leave it out or give 1.");
    }
  }

  private static void budget(SenderConfig c) {
    long segment = c.segmentBytes();
    long total = c.totalBytes();
    if (total / 2 < segment) {
      throw conflict(
          "sf_max_total_bytes="
              + total
              + " holds "
              + total / segment
              + " segments of sf_max_segment_bytes="
              + segment
              + ", and 2 are needed: raise the budget to at least "
              + 2 * segment
              + " or lower the segments to at most "
              + total / 2
              + ".");
    }
    if (c.initBufSize() > c.maxBufSize()) {
      throw conflict(
          "init_buf_size=" + c.initBufSize() + " is above max_buf_size=" + c.maxBufSize() + ".");
    }
  }

  private static void durability(SenderConfig c) {
    String durability = (String) c.value(ConnectKey.SF_DURABILITY);
    if (durability.equals("append")) {
      throw invalid(
          "sf_durability=append, a force for each frame, is not supported; use flush, which forces"
              + " at each flush() and before a commit.");
    }
    boolean asked = c.isSet(ConnectKey.SF_DURABILITY) && !durability.equals("memory");
    if (asked && c.sfDir().isEmpty()) {
      throw conflict("sf_durability=" + durability + " is set without sf_dir; there is no disk.");
    }
    if (c.isSet(ConnectKey.SF_SYNC_INTERVAL_MILLIS) && !durability.equals("periodic")) {
      throw conflict(
          "sf_sync_interval_millis is set, but sf_durability="
              + durability
              + " does not sync by time; set sf_durability=periodic or drop the interval.");
    }
  }

  private static void timing(SenderConfig c) {
    if (c.reconnectMaxBackoffMillis() < c.reconnectInitialBackoffMillis()) {
      throw conflict(
          "reconnect_max_backoff_millis="
              + c.reconnectMaxBackoffMillis()
              + " is below reconnect_initial_backoff_millis="
              + c.reconnectInitialBackoffMillis()
              + "; raise the first or lower the second.");
    }
  }

  private static SfException conflict(String message) {
    return new SfException(ErrorCode.CONFIG_CONFLICT, message);
  }

  private static SfException invalid(String message) {
    return new SfException(ErrorCode.CONFIG_INVALID_VALUE, message);
  }
}
