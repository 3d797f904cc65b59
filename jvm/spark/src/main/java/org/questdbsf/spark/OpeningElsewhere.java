package org.questdbsf.spark;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/**
 * Opens a lane away from the task's thread: an interrupt there would close files under the work. A
 * task that is interrupted goes; what it asked for is finished, and told to whoever takes it.
 */
final class OpeningElsewhere {
  /** The task was interrupted; who opens the lane goes on. */
  static final class AbandonedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    AbandonedException(InterruptedException cause) {
      super(cause);
    }

    InterruptedException interrupt() {
      return (InterruptedException) getCause();
    }
  }

  private OpeningElsewhere() {}

  /**
   * Waits for the lane.
   *
   * @param late takes the lane, or the failure, that comes after the task has gone
   * @throws AbandonedException when the task is interrupted
   * @throws SfException why no lane can be opened
   */
  static Lane open(LaneOpener opener, BiConsumer<Lane, Throwable> late) {
    CompletableFuture<Lane> opening = Housekeeper.call(opener::open);
    try {
      return opening.get();
    } catch (InterruptedException e) {
      opening.whenComplete(late);
      throw new AbandonedException(e);
    } catch (ExecutionException e) {
      throw reason(e.getCause());
    }
  }

  private static SfException reason(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null && !(cause instanceof SfException)) {
      cause = cause.getCause();
    }
    if (cause instanceof SfException known) {
      return new SfException(
          known.code(), RowEncoder.withoutCode(known.code(), known.getMessage()), known);
    }
    return new SfException(
        ErrorCode.DISK_FAILED, "no slot can be opened in sf_dir: " + cause + ".", cause);
  }
}
