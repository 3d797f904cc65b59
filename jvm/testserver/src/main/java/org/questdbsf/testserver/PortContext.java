package org.questdbsf.testserver;

import io.netty.handler.ssl.SslContext;
import io.questdb.cairo.CairoEngine;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * What the handlers of one port share.
 *
 * @param script the port's own
 * @param counters the port's own
 * @param total what {@code GET /qwp/counters} shows
 * @param credentials checked at every request
 * @param tls null for plain text
 * @param httpPort where the real server listens on 127.0.0.1
 * @param engine the database
 * @param executor runs sessions
 */
record PortContext(
    Script script,
    PortCounters counters,
    Supplier<Object> total,
    CredentialCheck credentials,
    SslContext tls,
    int httpPort,
    CairoEngine engine,
    Executor executor) {}
