/**
 * Rows to QWP messages and back: the wire format of QuestDB's WebSocket ingest, and nothing else.
 * No disk, no network, no threads; uses only {@code error}, and knows neither {@code slot} nor
 * {@code net} nor {@code sender}.
 *
 * <p>Writing, in reading order: {@link org.questdbsf.qwp.TableBlock} gathers the rows of a table in
 * one {@link org.questdbsf.qwp.ColumnBuffer} a column. {@code ColumnRows} keeps which rows have a
 * value, a {@code ColumnStore} the values, one subclass a family of types, in the form of the wire:
 * one slot a row, so that a range of rows without nulls is one copy. {@link
 * org.questdbsf.qwp.SymbolDictionary} gives the ids of symbols ({@code NewIds} when another
 * dictionary follows), {@link org.questdbsf.qwp.MessageEncoder} makes the message; {@link
 * org.questdbsf.qwp.RowSize} says how large that is for one row. {@link
 * org.questdbsf.qwp.BulkColumn} fills a column from columnar memory ({@code Source…}) instead of
 * value by value, and {@code Unholdable} looks there for what a value by itself is refused for.
 *
 * <p>Reading: {@link org.questdbsf.qwp.MessageDecoder}, {@code ColumnDecoder}, {@link
 * org.questdbsf.qwp.QwpMessage} and what hangs from it. {@link org.questdbsf.qwp.MessageHeader}
 * looks at a message without decoding it.
 */
package org.questdbsf.qwp;
