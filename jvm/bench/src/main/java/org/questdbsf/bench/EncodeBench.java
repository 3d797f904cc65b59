package org.questdbsf.bench;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.MessageEncoder;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;

/**
 * A block of 65,536 rows (two symbols, long, two doubles, timestamp) into one message; times are
 * those of one row. The floor is one array copy of the message.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EncodeBench {
  static final int ROWS = 65_536;
  private static final int SYMBOLS = 1_000;

  private final SymbolDictionary dictionary = new SymbolDictionary();
  private final MessageEncoder encoder = new MessageEncoder();
  private final long[] values = new long[ROWS];
  private final String[] symbols = new String[SYMBOLS];
  private TableBlock ready;
  private TableBlock gathered;
  private byte[] copy;

  /** Fills the block that {@link #encode} reads, and makes the rows that {@link #gather} puts. */
  @Setup(Level.Trial)
  public void fill() {
    Random random = new Random(1);
    for (int i = 0; i < SYMBOLS; i++) {
      symbols[i] = "symbol-" + i;
    }
    for (int row = 0; row < ROWS; row++) {
      values[row] = random.nextLong() >>> 16;
    }
    ready = new TableBlock("bench", dictionary, 127);
    gathered = new TableBlock("bench", dictionary, 127);
    put(ready);
    copy = new byte[encode()];
  }

  /** Columns to message. */
  @Benchmark
  @OperationsPerInvocation(ROWS)
  public int encode() {
    encoder.encode(ready, 0, ROWS, dictionary, 0, ready.symbolLimit());
    return encoder.length();
  }

  /** Rows to columns to message: what a row costs a task in all. */
  @Benchmark
  @OperationsPerInvocation(ROWS)
  public int gather() {
    gathered.clear();
    put(gathered);
    encoder.encode(gathered, 0, ROWS, dictionary, 0, gathered.symbolLimit());
    return encoder.length();
  }

  /** The floor: the finished message copied once. */
  @Benchmark
  @OperationsPerInvocation(ROWS)
  public byte[] floor() {
    System.arraycopy(encoder.array(), 0, copy, 0, copy.length);
    return copy;
  }

  private void put(TableBlock block) {
    ColumnBuffer first = block.column("first", QwpType.SYMBOL);
    ColumnBuffer second = block.column("second", QwpType.SYMBOL);
    ColumnBuffer count = block.column("count", QwpType.LONG);
    ColumnBuffer price = block.column("price", QwpType.DOUBLE);
    ColumnBuffer amount = block.column("amount", QwpType.DOUBLE);
    ColumnBuffer time = block.designated(QwpType.TIMESTAMP);
    for (int row = 0; row < ROWS; row++) {
      long value = values[row];
      first.putText(symbols[(int) (value % SYMBOLS)]);
      second.putText(symbols[row % SYMBOLS]);
      count.putLong(value);
      price.putDouble(value * 0.25);
      amount.putDouble(row);
      time.putLong(1_700_000_000_000_000L + row);
      block.endRow();
    }
  }
}
