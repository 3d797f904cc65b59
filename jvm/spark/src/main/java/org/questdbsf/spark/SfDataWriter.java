package org.questdbsf.spark;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;
import org.questdbsf.error.SfException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the rows of one task. Borrows a lane at the first row, and gives it back when the task
 * ends in whatever way. One thread.
 */
final class SfDataWriter implements DataWriter<InternalRow> {
  private static final Logger LOG = LoggerFactory.getLogger(SfDataWriter.class);
  private static final String BATCH_ID = "streaming.sql.batchId";

  private final LaneSettings settings;
  private final int partition;
  private final long epoch;
  private final TaskRef task;
  private final TaskContext context;
  private final LanePool pool;
  private final TaskMetrics metrics;
  private final RowDeadLetters deadLetters;
  private final List<TaskReport.Part> parts = new ArrayList<>();
  private TaskRows rows;
  private Return giveBack;
  private long bytesBefore;
  private long seen;
  private long written;
  private long booked; // rows in parts

  SfDataWriter(LaneSettings settings, StructType schema, int partition, long taskId, long epoch) {
    this.settings = settings;
    this.partition = partition;
    this.epoch = epoch;
    this.task = new TaskRef(settings.queryId(), epoch, partition);
    this.context = TaskContext.get();
    if (epoch != SfWriterFactory.NO_EPOCH
        && context != null
        && context.getLocalProperty(BATCH_ID) == null) {
      throw StreamRules.continuous();
    }
    this.pool = LanePools.of(settings);
    this.metrics = new TaskMetrics(pool);
    this.deadLetters = deadLetters(schema, taskId);
  }

  private RowDeadLetters deadLetters(StructType schema, long taskId) {
    SfOptions options = settings.options();
    if (!options.is(SfOption.ON_ROW_ERROR, "dead_letter")) {
      return null;
    }
    String name =
        "rows-"
            + settings.queryId()
            + "-"
            + epoch
            + "-"
            + partition
            + "-"
            + taskId
            + "-"
            + Long.toHexString(System.currentTimeMillis());
    return new RowDeadLetters(
        options.text(SfOption.DEAD_LETTER_DIR).orElseThrow(),
        name,
        schema,
        options.number(SfOption.MAX_DEAD_LETTER_ROWS).orElseThrow());
  }

  @Override
  public void write(InternalRow row) throws IOException {
    seen++;
    boolean taken = false;
    try {
      if (rows == null) {
        borrow();
      }
      rows.append(row, seen);
      taken = true;
      written++;
      rows.publishDue();
      if (rows.wantsNewLane()) {
        changeLane();
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    } catch (SfException e) {
      if (taken || !isAboutRow(e)) {
        throw explained(e);
      }
      if (deadLetters == null) {
        throw located(e);
      }
      deadLetters.add(row, seen, e);
    }
  }

  private void borrow() throws InterruptedException {
    LanePools.Loan loan = LanePools.borrow(settings);
    giveBack = new Return(loan, settings.options().commitOn().onDisk());
    if (context != null) {
      context.addTaskCompletionListener((TaskCompletionListener) giveBack);
    }
    rows = new TaskRows(settings, loan.lane(), task);
  }

  /** The lane has too many symbols: what it took is made safe, the rest goes to another. */
  private void changeLane() throws InterruptedException {
    commitRows();
    bytesBefore += rows.bytes();
    giveBack.now(true);
    rows = null;
  }

  private void commitRows() throws InterruptedException {
    rows.commit();
    if (rows.lastFsn() >= 0) {
      Lane lane = rows.lane();
      parts.add(
          new TaskReport.Part(lane.place(), lane.incarnation(), rows.lastFsn(), written - booked));
      booked = written;
    }
  }

  /** Gives a lane back once; registered with Spark, so that no way out of a task misses it. */
  private static final class Return implements TaskCompletionListener {
    private final LanePools.Loan loan;
    private final boolean onDisk;
    private final AtomicBoolean done = new AtomicBoolean();

    Return(LanePools.Loan loan, boolean onDisk) {
      this.loan = loan;
      this.onDisk = onDisk;
    }

    @Override
    public void onTaskCompletion(TaskContext context) {
      now(false);
    }

    void now(boolean committed) {
      if (!done.compareAndSet(false, true)) {
        return;
      }
      if (committed || onDisk) {
        loan.lane().clearBlocks();
        loan.pool().giveBack(loan.lane());
      } else {
        loan.pool().discard(loan.lane());
      }
    }
  }

  /** Whether the row at hand is at fault, where it was not taken. */
  private static boolean isAboutRow(SfException e) {
    return switch (e.code()) {
      case VALUE_INVALID, NAME_INVALID, FRAME_TOO_LARGE -> true;
      default -> false;
    };
  }

  private SfException located(SfException e) {
    pool.tell(SfErrorEvent.of(e, task, settings.plan().table(), seen));
    return new SfException(
        e.code(),
        "row "
            + seen
            + " of partition "
            + partition
            + where()
            + " cannot be written: "
            + RowEncoder.withoutCode(e.code(), e.getMessage()),
        e);
  }

  private String where() {
    return epoch == SfWriterFactory.NO_EPOCH ? "" : ", batch " + epoch + ",";
  }

  private SfException explained(SfException e) {
    String range = rows == null ? "" : rows.rangeOf(e);
    String inTable =
        !settings.streaming() && rows != null && rows.partlyAcknowledged()
            ? " Some rows of this task are in the table already."
            : "";
    return range.isEmpty() && inTable.isEmpty()
        ? e
        : new SfException(
            e.code(),
            sentence(RowEncoder.withoutCode(e.code(), e.getMessage())) + range + inTable,
            e);
  }

  /** The server's words need not end as sentences do. */
  private static String sentence(String text) {
    return text.endsWith(".") ? text : text + ".";
  }

  private static IOException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    IOException wrapped = new InterruptedIOException("the task was interrupted while it waited");
    wrapped.initCause(e);
    return wrapped;
  }

  @Override
  public WriterCommitMessage commit() throws IOException {
    try {
      if (rows != null) {
        commitRows();
      }
      if (deadLetters != null) {
        deadLetters.commit(); // last: a task that fails before writes all of its rows again
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    } catch (SfException e) {
      throw explained(e);
    }
    report();
    pool.news().committed(written, bytes());
    TaskReport report = metrics.report(parts, written, bytes(), dropped());
    if (giveBack != null) {
      giveBack.now(true);
    }
    return new SfCommitMessage(report);
  }

  /** Fills Spark's own columns for output, and the SQL tab with what the commit has counted. */
  private void report() {
    if (context != null) {
      SqlTab.show(context, currentMetricsValues());
      context.taskMetrics().outputMetrics().setRecordsWritten(written);
      context.taskMetrics().outputMetrics().setBytesWritten(bytes());
    }
  }

  private long bytes() {
    return bytesBefore + (rows == null ? 0 : rows.bytes());
  }

  private long dropped() {
    return deadLetters == null ? 0 : deadLetters.rows();
  }

  /** Never throws: what made Spark abort must not be buried under another error. */
  @Override
  public void abort() {
    quietly(metrics::abort);
    if (deadLetters != null) {
      quietly(deadLetters::abort);
    }
    if (giveBack != null) {
      quietly(() -> giveBack.now(false));
    }
  }

  private void quietly(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      LOG.warn("{}: a step of giving the task up failed: {}", this, e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    if (giveBack != null) {
      giveBack.now(false);
    }
  }

  /** Called by Spark before the first row, every 100 rows, and after the last; and by commit. */
  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return metrics.values(written, bytes(), dropped());
  }

  @Override
  public String toString() {
    String executor = SparkEnv.get() == null ? "" : ", executor " + SparkEnv.get().executorId();
    return "SfDataWriter["
        + settings.options().target()
        + ", partition "
        + partition
        + executor
        + "]";
  }
}
