package org.questdbsf.sender;

/**
 * What kind of refusal a server's error frame is (client spec, section on error frames). Statuses
 * that no category knows are {@link #UNKNOWN}.
 */
public enum Category {
  /** Status 0x03: the rows do not fit the table. */
  SCHEMA_MISMATCH(0x03),
  /** Status 0x05: the server cannot read the message. */
  PARSE_ERROR(0x05),
  /** Status 0x06: an error inside the server. */
  INTERNAL_ERROR(0x06),
  /** Status 0x08, or 401 and 403 on the upgrade: not allowed. */
  SECURITY_ERROR(0x08),
  /** Status 0x09: the table did not take the rows. */
  WRITE_ERROR(0x09),
  /** Status 0x0C: this server takes no writes. */
  NOT_WRITABLE(0x0C),
  /** Status 0x0D: symbols below this message's first are not known to the server. */
  DICTIONARY_GAP(0x0D),
  /** Any other status. */
  UNKNOWN(-1),
  /** Made here: the server closed for a reason that forbids a retry, or broke the protocol. */
  PROTOCOL_VIOLATION(-1),
  /** Made here: the table is not there, was dropped, or cannot be made. */
  TABLE_MISSING(-1),
  /** Made here: no server took connections, or acknowledged frames, for too long. */
  OUTAGE(-1),
  /** Made here: a frame cannot be read, or it or a row is too large for any host. */
  LOCAL_FAILURE(-1);

  private final int status;

  Category(int status) {
    this.status = status;
  }

  /** The category of a status byte (0 to 255) of an error frame. */
  public static Category ofStatus(int status) {
    for (Category category : values()) {
      if (category.status == status && status >= 0) {
        return category;
      }
    }
    return UNKNOWN;
  }
}
