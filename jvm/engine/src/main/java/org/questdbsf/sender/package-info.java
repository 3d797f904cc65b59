/**
 * What ties ring, wire and connection together: the {@link org.questdbsf.sender.Sender} API, the
 * loop behind it, its settings, and the adopter of orphaned slots. The only room that knows {@code
 * slot}, {@code qwp} and {@code net}; nothing of Spark may come in.
 *
 * <p>Read in this order.
 *
 * <ol>
 *   <li>From rows to the ring: {@link org.questdbsf.sender.Sender}, {@link
 *       org.questdbsf.sender.SenderBuilder} (put together by {@code SenderOpener}), {@code
 *       RowWriter}, {@code FramePublisher} (with {@code FrameCap}, how large frames may be, and
 *       {@code SymbolEpochs}, which frames go by which dictionary), {@code LargeRows}, what becomes
 *       of those that fit no frame, and {@code PlainTables}, which has the tables of plain rows
 *       checked.
 *   <li>From the ring to the server: {@code SendLoop} (states and events), {@code ConnectionCycle},
 *       {@code FrameShipper}, {@code InFlight} (with {@code IntQueue}), {@code AckTracker}, {@code
 *       CatchUp}. Whether an OK proves what it acknowledges: {@code OkAudit} over {@code
 *       FrameCommits}, and {@code AckRejections} where it does not.
 *   <li>When it goes wrong: {@code NackHandler}, {@code Refusal}, {@code Caution}, {@code Strikes},
 *       {@code PoisonDetector}, {@code UnansweredEnds}, {@code ErrorPolicy}, {@code SilenceWatch},
 *       {@code ReconnectPacer}, {@link org.questdbsf.sender.OutageClock}, {@code CapWatch}; what
 *       was left behind by others: {@code ReplayPlan}.
 *   <li>What the outside sees: {@link org.questdbsf.sender.SenderError} by way of {@code
 *       ErrorInbox}, {@link org.questdbsf.sender.SenderCounters}, {@link
 *       org.questdbsf.sender.SenderState}, the end by {@code SenderCloser}.
 *   <li>Settings: {@link org.questdbsf.sender.ConnectKey} (the table of keys), {@code
 *       ConnectString}, {@link org.questdbsf.sender.SenderConfig}; {@link
 *       org.questdbsf.sender.ClearCredentials} warns of credentials without TLS.
 *   <li>Before anything is shipped: {@link org.questdbsf.sender.ConnectionGate}, {@link
 *       org.questdbsf.sender.TableCheck} ({@code TableLookup}, {@code TableFit}, {@link
 *       org.questdbsf.sender.TableTypes}), {@code MissingTable}, and {@code TableWatch}, {@code
 *       TableLooks} and {@code KeyRepair} for tables that are dropped meanwhile, {@link
 *       org.questdbsf.sender.SuspendedTables} for those that are suspended; {@code SqlWords} reads
 *       what a server says to it.
 *   <li>Orphans: {@code OrphanScanner}, {@link org.questdbsf.sender.DrainerPool} ({@code
 *       DrainerPoolBuilder}, {@code DrainerThreads}, {@code DrainerTurns}, {@code DrainerRetries},
 *       {@code DrainerEnds}), {@link org.questdbsf.sender.SlotTarget}; dropped frames: {@link
 *       org.questdbsf.sender.DeadLetterSink}.
 *   <li>Which version runs: {@link org.questdbsf.sender.LibraryJar}.
 * </ol>
 */
package org.questdbsf.sender;
