package org.questdbsf.slot;

import java.io.IOException;

/** The file system has no room for what was to be reserved. */
public final class DiskFullException extends IOException {
  private static final long serialVersionUID = 1L;

  public DiskFullException(String message, Throwable cause) {
    super(message, cause);
  }
}
