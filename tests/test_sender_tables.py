"""The engine in this process: Arrow tables and pandas frames, by SQL what went in, and what is refused of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.sending import (
    DRAIN_SECONDS,
    START,
    UTC,
    column_type,
    open_sender,
    times,
    write,
)
from harness.server import ServerProcess

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")


def two_million(rows: int) -> Any:
    random = np.random.default_rng(20260101)
    index = np.arange(rows)

    def nulls(every: int) -> Any:
        return index % every == every - 1

    names = pa.array([f"sensor-{i}" for i in range(500)])
    texts = pa.array(
        ["", "ascii text", "grün", "漢字 text", "😀"] + [f"text {i}" for i in range(995)]
    )
    plain = pa.array([f"{i:016}" if i % 2 else "ü" * (i % 40) + str(i) for i in range(300)])
    parts = []
    for part in np.array_split(index, 7):
        low, high = part[0], part[-1] + 1
        parts.append(
            pa.table(
                {
                    "n": pa.array(part),
                    "s": names.take(
                        pa.array(random.integers(0, 500, len(part)), mask=nulls(11)[low:high])
                    ).dictionary_encode(),
                    # Symbols as plain texts, half of them of as many bytes as two longs have.
                    "p": plain.take(
                        pa.array(random.integers(0, 300, len(part)), mask=nulls(7)[low:high])
                    ),
                    "l": pa.array(
                        random.integers(-(2**40), 2**40, len(part)),
                        mask=nulls(13)[low:high],
                    ),
                    "d": pa.array(
                        random.integers(-(2**30), 2**30, len(part)) / 4,
                        mask=nulls(17)[low:high],
                    ),
                    "t": texts.take(
                        pa.array(
                            random.integers(0, 1000, len(part)),
                            mask=nulls(19)[low:high],
                        )
                    ),
                    "u": pa.array(
                        random.integers(0, 2**50, len(part)),
                        pa.timestamp("us"),
                        mask=nulls(23)[low:high],
                    ),
                    "ts": pa.array(part + START, pa.timestamp("us")),
                }
            )
        )
    return pa.concat_tables(parts)


def test_two_million_rows_equal_by_sql(server: ServerProcess, tmp_path: Path) -> None:
    rows = 2_000_000
    table = two_million(rows)
    before = pa.total_allocated_bytes()
    with open_sender(server, tmp_path) as sender:
        assert sender.write(table, table="millions", timestamp="ts", symbols=["s", "p"]) == rows
        assert sender.drain(DRAIN_SECONDS)
        counters = sender.counters()
    assert counters.rows_written == rows
    assert counters.bytes_written / counters.frames_written < 1.05 * (1 << 20)
    assert pa.total_allocated_bytes() <= before
    assert server.await_count("millions", rows, 240) == rows

    def total(column: str) -> int:
        return int(pc.sum(table[column].cast(pa.int64())).as_py())

    expected = [
        [
            rows,
            *(rows - table[c].null_count for c in ("s", "l", "d", "t", "u")),
            total("n"),
            total("l"),
            pc.sum(table["d"]).as_py(),
            total("u"),
            # QuestDB says -1 of null.
            int(pc.sum(pc.utf8_length(table["t"])).as_py()) - table["t"].null_count,
            pc.count_distinct(table["s"].cast(pa.string())).as_py(),
            pc.count_distinct(table["t"]).as_py(),
        ]
    ]
    assert (
        server.sql(
            "SELECT count(), count(s), count(l), count(d), count(t), count(u), sum(n), sum(l), sum(d),"
            " sum(u::long), sum(length(t)), count_distinct(s), count_distinct(t) FROM millions"
        )
        == expected
    )
    # Each value has its rows: how many, and the sums of their numbers and of what else is in them.
    for column in ("s", "p", "t"):
        sums = (
            f"SELECT {column}, count(), sum(n), sum(l), sum(d), sum(timestamp::long) FROM millions"
        )
        assert column_type(server, "millions", column) == ("VARCHAR" if column == "t" else "SYMBOL")
        groups = (
            table.append_column("time", table["ts"].cast(pa.int64()))
            .set_column(table.schema.get_field_index("s"), "s", table["s"].cast(pa.string()))
            .group_by(column)
            .aggregate([([], "count_all"), *((c, "sum") for c in ("n", "l", "d", "time"))])
        )
        assert {tuple(row) for row in server.sql(sums)} == set(
            zip(
                *(
                    c.to_pylist()
                    for c in groups.select(
                        [column, "count_all", "n_sum", "l_sum", "d_sum", "time_sum"]
                    )
                ),
                strict=True,
            )
        ), column
    sampled = server.sql(
        "SELECT n, s, p, l, d, t, u::long, timestamp::long FROM millions WHERE n % 997 = 0 ORDER BY n"
    )
    names = ["n", "s", "p", "l", "d", "t", "u", "ts"]
    mine = table.filter(
        pc.equal(pc.subtract(table["n"], pc.multiply(pc.divide(table["n"], 997), 997)), 0)
    )
    for time_column in ("u", "ts"):
        index = mine.schema.get_field_index(time_column)
        mine = mine.set_column(index, time_column, mine[time_column].cast(pa.int64()))
    pd.testing.assert_frame_equal(
        pd.DataFrame(sampled, columns=names, dtype=object),
        pd.DataFrame(mine.to_pylist(), columns=names, dtype=object),
    )


def test_slices_and_chunks_keep_their_rows(server: ServerProcess) -> None:
    rows = 500
    long = pa.table(
        {
            "n": pa.array(range(rows)),
            "b": pa.array([i % 3 == 0 for i in range(rows)]),
            "s": pa.array([None if i % 7 == 3 else f"s{i % 9}" for i in range(rows)]),
            "c": pa.array(
                [None if i % 5 == 3 else f"c{i % 4}" for i in range(rows)]
            ).dictionary_encode(),
            "t": pa.array(
                [None if i % 6 == 2 else "ä" * (i % 5) for i in range(rows)],
                pa.large_string(),
            ),
            "l": pa.array([None if i % 4 == 1 else i * 3 for i in range(rows)]),
            "f": pa.array(
                [None if i % 8 == 1 else [float(k) for k in range(i % 4)] for i in range(rows)]
            ),
            "bin": pa.array(
                [None if i % 9 == 4 else bytes([i % 256]) * (i % 3) for i in range(rows)]
            ),
            "ts": times(rows),
        }
    )
    pieces = [
        long.slice(0, 1),
        long.slice(13, 100),
        long.slice(113, 0),
        long.slice(7, 6),
        long.slice(401),
    ]
    sent = pa.concat_tables(pieces)
    assert sent["n"].num_chunks >= 4
    # Columns that are cut in other places than their neighbours.
    sent = sent.set_column(0, "n", pa.chunked_array([sent["n"].combine_chunks()]))
    write(
        server,
        "slices",
        {name: sent[name] for name in sent.schema.names},
        symbols=["s", "c"],
    )
    what = "n, b, s, c, t, l, f, base64(bin, 100), timestamp::long"
    got = server.sql(f"SELECT {what} FROM slices ORDER BY n")
    expected = sorted(sent.to_pylist(), key=lambda row: row["n"])
    import base64

    for row, mine in zip(got, expected, strict=True):
        binary = None if mine["bin"] is None else base64.b64encode(mine["bin"]).decode()
        micros = round(mine["ts"].replace(tzinfo=UTC).timestamp() * 1e6)
        assert row == [
            *(mine[c] for c in ("n", "b", "s", "c", "t", "l", "f")),
            binary,
            micros,
        ], mine["n"]
    assert column_type(server, "slices", "s") == "SYMBOL"
    assert column_type(server, "slices", "t") == "VARCHAR"


def test_pandas_frames_and_what_else_speaks_arrow(server: ServerProcess) -> None:
    frame = pd.DataFrame(
        {
            "x": [1.5, np.nan],
            "name": ["a", None],
            "kind": pd.Categorical(["k", None]),
            "ts": pd.to_datetime([START, START + 1], unit="us"),
        },
        index=pd.Index([7, 8], name="id"),
    )

    class Stream:
        def __arrow_c_stream__(self, requested: Any = None) -> Any:
            return pa.table({"x": [2.5], "ts": times(1)}).__arrow_c_stream__(requested)

    with open_sender(server) as sender:
        assert sender.write(frame, table="frames", timestamp="ts") == 2
        assert (
            sender.write(
                pa.record_batch({"x": [9.0], "ts": times(1)}),
                table="batches",
                timestamp="ts",
            )
            == 1
        )
        assert sender.write(Stream(), table="streams", timestamp="ts") == 1
        assert sender.write(frame.iloc[:0], table="frames", timestamp="ts") == 0
        with pytest.raises(TypeError, match="not list"):
            sender.write([1], table="t", timestamp=None)
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count("frames", 2) == 2
    assert server.sql("SELECT id, x, name, kind FROM frames ORDER BY id") == [
        [7, 1.5, "a", "k"],
        [8, None, None, None],
    ]
    assert column_type(server, "frames", "kind") == "SYMBOL"
    assert server.await_count("batches", 1) == server.await_count("streams", 1) == 1
