package org.questdbsf.net;

import io.netty.channel.Channel;

/**
 * Queries of one server, one after the other, on a connection that is kept between them for some
 * seconds. For statements that may run twice: where the server has ended the connection meanwhile,
 * a query is asked again on a fresh one. One thread at a time.
 */
public final class SqlSession {
  private final SqlOverHttp sql;
  private final ConnectSettings settings;
  private final Endpoint endpoint;
  private Channel kept;
  private long dialed;

  SqlSession(SqlOverHttp sql, ConnectSettings settings, Endpoint endpoint) {
    this.sql = sql;
    this.settings = settings;
    this.endpoint = endpoint;
  }

  /**
   * The same as {@link SqlOverHttp#query}.
   *
   * @param dialedSince a connection that was made before is not used, by {@code System.nanoTime()}
   * @throws SqlFailure when it cannot be sent, is refused, or the answer cannot be read
   */
  public SqlResult query(String statement, long dialedSince)
      throws SqlFailure, InterruptedException {
    String authorization = sql.authorization(endpoint);
    ForeignText foreign = ForeignText.of(authorization);
    Channel channel = kept;
    kept = null;
    SqlExchange again =
        new SqlExchange(endpoint, settings, authorization, statement, foreign, true);
    if (channel != null && dialed - dialedSince < 0) {
      channel.close();
    } else if (channel != null && take(channel, again)) {
      try {
        return read(again, channel, foreign);
      } catch (SqlFailure e) {
        if (e.httpStatus() != 0 || again.timedOut()) {
          throw e;
        }
      }
    }
    dialed = System.nanoTime();
    SqlExchange exchange = sql.dial(endpoint, statement, authorization, foreign, true);
    return read(exchange, exchange.channel(), foreign);
  }

  /** When the connection of the last query began to be made, by {@code System.nanoTime()}. */
  public long dialed() {
    return dialed;
  }

  /** Whether the connection is still good. */
  private static boolean take(Channel channel, SqlExchange exchange) {
    return channel
        .eventLoop()
        .submit(
            () -> {
              boolean good =
                  channel.isActive() && channel.pipeline().get(ParkedHandler.NAME) != null;
              if (good) {
                channel.pipeline().replace(ParkedHandler.NAME, "exchange", exchange);
              }
              return good;
            })
        .syncUninterruptibly()
        .getNow();
  }

  private SqlResult read(SqlExchange exchange, Channel channel, ForeignText foreign)
      throws SqlFailure, InterruptedException {
    try {
      return SqlOverHttp.read(endpoint, exchange, foreign);
    } finally {
      kept = channel; // closed where the exchange did not leave it good for another one
    }
  }
}
