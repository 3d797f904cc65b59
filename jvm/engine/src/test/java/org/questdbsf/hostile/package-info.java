/**
 * A server that misbehaves in many ways, and what the sender makes of it: {@code make hostile}.
 *
 * <p>Read {@link org.questdbsf.hostile.Mode} (one way to misbehave, and how it has to end), the
 * lists of modes ({@code HandshakeModes}, {@code FrameModes}, {@code CloseModes}, {@code
 * ReplyModes}, {@code SilenceModes}, {@code FloodModes}, {@code SqlModes}), then {@link
 * org.questdbsf.hostile.Trial}, which runs one against a {@code HostileServer} (a {@code
 * Conversation} a connection) and judges it. Only the public interface of the engine is used here.
 */
package org.questdbsf.hostile;
