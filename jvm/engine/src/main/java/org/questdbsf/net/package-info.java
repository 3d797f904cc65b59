/**
 * Talking to a server: the WebSocket that carries messages, replies as records, which host to try
 * and when, and SQL over HTTP.
 *
 * <p>Read {@link org.questdbsf.net.ConnectSettings} and {@link org.questdbsf.net.QwpConnection}
 * first, then {@link org.questdbsf.net.ServerReply}; {@link org.questdbsf.net.HostTracker}, {@link
 * org.questdbsf.net.Backoff} and {@link org.questdbsf.net.DurableAckLedger} are plain state
 * machines without a socket; {@link org.questdbsf.net.SqlOverHttp} stands for itself, and {@link
 * org.questdbsf.net.SqlSession} keeps its connection ({@code ParkedHandler}).
 *
 * <p>Behind the scenes, in the order of a connect: {@code Authorization}, {@code Dialer} (with
 * {@code HostLookup}, {@code EventLoops}, {@code TlsContexts}), {@code HttpExchange} (one request
 * and its answer; {@code UpgradeHandler} and {@code SqlExchange} are its two uses), {@code
 * FrameHandler} (after the upgrade), {@code ClientFrame} (a message made ready where it lies),
 * {@code ReplyDecoder}; {@code JsonReader} reads SQL results. {@code ForeignText} makes what
 * servers and proxies say fit to be shown: no credentials, no control characters.
 *
 * <p>Nothing in here knows what a message contains, what a slot is, or who sends: {@code qwp},
 * {@code slot}, {@code sender} and Spark may not come in. Netty may, but only what 4.1.96 and 4.2
 * have in common.
 */
package org.questdbsf.net;
