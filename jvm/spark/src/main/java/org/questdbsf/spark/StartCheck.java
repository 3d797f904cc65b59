package org.questdbsf.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.types.StructType;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.net.CloseInfo;
import org.questdbsf.net.ConnectFailure;
import org.questdbsf.net.ConnectSettings;
import org.questdbsf.net.ConnectionEvents;
import org.questdbsf.net.Endpoint;
import org.questdbsf.net.QwpConnection;
import org.questdbsf.net.ServerReply;
import org.questdbsf.net.SqlOverHttp;
import org.questdbsf.sender.ClearCredentials;
import org.questdbsf.sender.GateClosed;
import org.questdbsf.sender.LibraryJar;
import org.questdbsf.sender.OnMissingTable;
import org.questdbsf.sender.SenderConfig;
import org.questdbsf.sender.TableCheck;
import org.questdbsf.sender.TableFacts;
import org.questdbsf.sender.TableSpec;
import org.questdbsf.sender.TtlFloor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the driver does before the first row of a query run: checks the options and the schema, and
 * makes one bounded attempt to reach a server. What a server says against the query is an error;
 * that none answers is one WARN, and the query goes on.
 */
final class StartCheck {
  private static final Logger LOG = LoggerFactory.getLogger(StartCheck.class);
  private static final long ATTEMPT_MILLIS = 5000;
  private static final long CLOSE_MILLIS = 100;

  private final SfOptions options;
  private final StructType schema;
  private final boolean streaming;
  private final String queryId;
  private final long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ATTEMPT_MILLIS);

  private long ttlFloorMicros = TtlFloor.NONE;

  StartCheck(SfOptions options, StructType schema, boolean streaming, String queryId) {
    this.options = options;
    this.schema = schema;
    this.streaming = streaming;
    this.queryId = queryId;
  }

  /**
   * Checks, connects, plans.
   *
   * @throws SfException what is wrong, and what to do
   */
  LaneSettings run() throws InterruptedException {
    if (streaming) {
      OptionRules.checkStream(options);
      StreamRules.check(options, StreamRules.running(queryId));
    } else {
      OptionRules.checkBatch(options);
    }
    SparkConf conf = SparkEnv.get() == null ? new SparkConf() : SparkEnv.get().conf();
    StreamRules.checkDisks(options, conf);
    String senderId = options.text(SfOption.SENDER_ID).orElse("spark-" + queryId);
    int lanes = LanePools.lanes(options);
    SenderConfig config = SenderSettings.of(options, streaming, senderId, lanes);
    RowPlan plan = SchemaCheck.plan(options, schema, null);
    OnMissingTable onMissing = options.createsTable() ? OnMissingTable.CREATE : OnMissingTable.FAIL;
    if (plan.table() != null) {
      SenderSettings.table(options, plan, plan.table(), onMissing); // its rules, before any request
    }
    ClearCredentials.warn(config);
    Optional<Endpoint> reached = reach(config);
    if (reached.isPresent() && plan.table() != null) {
      plan = checkTable(config, reached.get(), plan, onMissing);
      if (options.is(SfOption.ON_MISSING_TABLE, "fail")) {
        onMissing = OnMissingTable.FAIL; // it is there now; if it vanishes, that is an error
      }
    }
    LOG.info(
        "{} {} to {} at {}. {}",
        streaming ? "Query" : "Batch write",
        queryId,
        options.target(),
        config.endpoints(),
        options.commitOn().describe());
    warnOfOtherJars();
    LOG.info("Columns: {}", plan.describe());
    if (!plan.skipped().isEmpty()) {
      LOG.warn("Columns that are not written to {}: {}.", options.target(), plan.skipped());
    }
    if (!options.isSet(SfOption.TIMESTAMP_UNIT) && !plan.numbersAsTimes().isEmpty()) {
      LOG.warn(
          "Long columns are written as times and read as microseconds, because timestamp_unit is"
              + " not set: {}.",
          plan.numbersAsTimes());
    }
    return new LaneSettings(options, plan, streaming, queryId, senderId, onMissing, ttlFloorMicros);
  }

  /** Which of two jars is loaded depends on their places, and these differ on other hosts. */
  private static void warnOfOtherJars() {
    List<LibraryJar> jars = LibraryJar.seenBy(Thread.currentThread().getContextClassLoader());
    if (jars.stream().map(LibraryJar::version).distinct().count() > 1) {
      LOG.warn(
          "Jars of this sink of different versions are on the driver's class path: {}. The first"
              + " one runs; executors that load another refuse their tasks. Keep one.",
          jars);
    }
  }

  /** The first host that takes connections; empty if none answered. */
  private Optional<Endpoint> reach(SenderConfig config) throws InterruptedException {
    List<String> failures = new ArrayList<>();
    ConnectFailure refused = null;
    int notDurable = 0;
    for (Endpoint endpoint : config.endpoints()) {
      try (QwpConnection connection =
          QwpConnection.open(endpoint, bounded(config.connectSettings()), new Deaf())) {
        connection.close(CLOSE_MILLIS);
        return Optional.of(endpoint);
      } catch (ConnectFailure e) {
        failures.add(e.getMessage());
        notDurable += e.kind() == ConnectFailure.Kind.DURABLE_NOT_GRANTED ? 1 : 0;
        refused = e.kind() == ConnectFailure.Kind.AUTH ? e : refused;
      }
    }
    if (refused != null) {
      throw new SfException(
          ErrorCode.AUTH_FAILED,
          RowEncoder.withoutCode(ErrorCode.AUTH_FAILED, refused.getMessage()),
          refused);
    }
    if (notDurable == config.endpoints().size()) {
      throw new SfException(
          ErrorCode.DURABLE_ACK_UNAVAILABLE,
          "commit_on=durable, but no server grants durable acknowledgements: "
              + String.join("; ", failures)
              + ". Use commit_on=ack, or a server with replication.");
    }
    LOG.warn(
        "No server was reached at the start: {}. The {} goes on and {}.",
        String.join("; ", failures),
        streaming ? "stream" : "batch write",
        options.commitOn().onDisk()
            ? "its rows wait in " + options.word(SfOption.SF_DIR)
            : "waits for the server");
    return Optional.empty();
  }

  /** The same settings with what is left of the attempt as time-outs. */
  private ConnectSettings bounded(ConnectSettings settings) {
    long left = Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()));
    return new ConnectSettings(
        settings.endpoints(),
        settings.tls(),
        settings.tlsSettings(),
        settings.credentials(),
        (int) Math.min(left, settings.connectTimeoutMillis()),
        (int) Math.min(left, settings.authTimeoutMillis()),
        settings.requestDurableAck(),
        settings.clientId());
  }

  private RowPlan checkTable(
      SenderConfig config, Endpoint endpoint, RowPlan plan, OnMissingTable onMissing)
      throws InterruptedException {
    TableCheck check = new TableCheck(new SqlOverHttp(bounded(config.connectSettings())));
    RowPlan fitted = plan;
    try {
      Optional<TableFacts> live = look(check, endpoint, plan.table());
      if (live.isPresent()) {
        fitted = SchemaCheck.plan(options, schema, live.get());
      }
      check.require(SenderSettings.table(options, fitted, fitted.table(), onMissing));
      check.admit(endpoint);
      ttlFloorMicros =
          check
              .ttlFloor(fitted.table())
              .micros(TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));
      return fitted;
    } catch (GateClosed e) {
      if (e.terminal()) {
        throw e.error();
      }
      LOG.warn("{} The check is made again before rows are sent.", e.getMessage());
      return fitted;
    }
  }

  /** The table as it is, which a look without demands tells; empty if it is not there. */
  private static Optional<TableFacts> look(TableCheck check, Endpoint endpoint, String table)
      throws GateClosed, InterruptedException {
    TableSpec noDemands = TableSpec.builder(table).onMissing(OnMissingTable.FAIL).build();
    check.require(noDemands);
    try {
      check.admit(endpoint);
    } catch (GateClosed e) {
      if (e.error().code() == ErrorCode.TABLE_MISSING) {
        return Optional.empty();
      }
      throw e;
    }
    return check.facts(table);
  }

  /** Nothing is sent, so nothing is to be heard. */
  private static final class Deaf implements ConnectionEvents {
    @Override
    public void onReply(ServerReply reply, int bytes) {}

    @Override
    public void onClosed(CloseInfo info) {}

    @Override
    public void onWritable() {}
  }
}
