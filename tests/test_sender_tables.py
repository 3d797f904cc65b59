"""The engine in this process: Arrow tables and pandas frames, by SQL what went in, and what is refused of them."""

from __future__ import annotations

import datetime
import math
import re
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from harness.sending import (
    DRAIN_SECONDS,
    START,
    UTC,
    column_type,
    open_sender,
    read,
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


MIDNIGHT = "2024-01-01T00:00:00"
DAY = datetime.date(2024, 1, 1)
KEY = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
EVERY_TYPE: dict[str, tuple[Any, dict[str, Any], str, list[Any]]] = {
    "bool": (pa.array([True, False]), {}, "BOOLEAN", [True, False]),
    "int8": (pa.array([-128, None], pa.int8()), {}, "INT", [-128, None]),
    "uint8": (pa.array([255, None], pa.uint8()), {}, "INT", [255, None]),
    "int16": (pa.array([-32768, None], pa.int16()), {}, "INT", [-32768, None]),
    "uint16": (pa.array([65535, None], pa.uint16()), {}, "INT", [65535, None]),
    "int32": (pa.array([2**31 - 1, None], pa.int32()), {}, "INT", [2**31 - 1, None]),
    "uint32": (pa.array([2**32 - 1, None], pa.uint32()), {}, "LONG", [2**32 - 1, None]),
    "int64": (pa.array([-(2**63) + 1, None]), {}, "LONG", [-(2**63) + 1, None]),
    "uint64": (pa.array([2**63 - 1, None], pa.uint64()), {}, "LONG", [2**63 - 1, None]),
    "int8 as BYTE": (
        pa.array([-128, 127], pa.int8()),
        {"types": {"x": "BYTE"}},
        "BYTE",
        [-128, 127],
    ),
    "int64 as SHORT": (
        pa.array([-32768, 7]),
        {"types": {"x": "SHORT"}},
        "SHORT",
        [-32768, 7],
    ),
    "int32 as LONG": (
        pa.array([5, None], pa.int32()),
        {"types": {"x": "long"}},
        "LONG",
        [5, None],
    ),
    "uint32 as IPV4": (
        pa.array([0xC0A80109, None], pa.uint32()),
        {"types": {"x": "IPV4"}},
        "IPv4",
        ["192.168.1.9", None],
    ),
    "uint16 as CHAR": (
        pa.array([65, 0x20AC], pa.uint16()),
        {"types": {"x": "CHAR"}},
        "CHAR",
        ["A", "€"],
    ),
    "uint16 as CHAR with null": (
        pa.array([65, None], pa.uint16()),
        {"types": {"x": "CHAR"}, "zero_for_null": ["x"]},
        "CHAR",
        ["A", ""],
    ),
    "zero for null": (
        pa.array([True, None]),
        {"zero_for_null": ["x"]},
        "BOOLEAN",
        [True, False],
    ),
    "zero for null in SHORT": (
        pa.array([3, None], pa.int16()),
        {"zero_for_null": ["x"], "types": {"x": "SHORT"}},
        "SHORT",
        [3, 0],
    ),
    "float16": (pa.array(np.array([1.5, 2], np.float16)), {}, "FLOAT", [1.5, 2.0]),
    "float32": (pa.array([1.5, None], pa.float32()), {}, "FLOAT", [1.5, None]),
    "float32 as DOUBLE": (
        pa.array([1.5, None], pa.float32()),
        {"types": {"x": "DOUBLE"}},
        "DOUBLE",
        [1.5, None],
    ),
    "float64": (pa.array([5e-324, None]), {}, "DOUBLE", [5e-324, None]),
    "float64 ends": (
        pa.array([-0.0, math.nan, 1.7976931348623157e308, 2.2250738585072014e-308]),
        {},
        "DOUBLE",
        [-0.0, None, 1.7976931348623157e308, 2.2250738585072014e-308],
    ),
    "json": (pa.array(['{"a":1}', None], pa.json_()), {}, "VARCHAR", ['{"a":1}', None]),
    "string": (pa.array(["", None, "ü"]), {}, "VARCHAR", ["", None, "ü"]),
    "large_string": (
        pa.array(["a", None], pa.large_string()),
        {},
        "VARCHAR",
        ["a", None],
    ),
    "string_view": (
        pa.array(["a", None, "x" * 40], pa.string_view()),
        {},
        "VARCHAR",
        ["a", None, "x" * 40],
    ),
    "string as SYMBOL": (
        pa.array(["a", None, "a"]),
        {"symbols": ["x"]},
        "SYMBOL",
        ["a", None, "a"],
    ),
    "large_string as SYMBOL": (
        pa.array(["a", None], pa.large_string()),
        {"types": {"x": "SYMBOL"}},
        "SYMBOL",
        ["a", None],
    ),
    "dictionary": (
        pa.array(["b", None, "b"]).dictionary_encode(),
        {},
        "SYMBOL",
        ["b", None, "b"],
    ),
    "dictionary int8 large": (
        pa.DictionaryArray.from_arrays(
            pa.array([1, 0, None], pa.int8()), pa.array(["a", "b"], pa.large_string())
        ),
        {},
        "SYMBOL",
        ["b", "a", None],
    ),
    "dictionary with null entry": (
        pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int64()), pa.array(["a", None])),
        {},
        "SYMBOL",
        [None, "a"],
    ),
    "dictionary as VARCHAR": (
        pa.array(["b", None]).dictionary_encode(),
        {"symbols": []},
        "VARCHAR",
        ["b", None],
    ),
    "dictionary of numbers": (
        pa.array([7, None]).dictionary_encode(),
        {},
        "LONG",
        [7, None],
    ),
    "run_end_encoded": (
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 8])),
        {},
        "LONG",
        [7, 7, 8],
    ),
    "timestamp[s]": (
        pa.array([1_704_067_200, None], pa.timestamp("s")),
        {},
        "TIMESTAMP",
        [f"{MIDNIGHT}.000000Z", None],
    ),
    "timestamp[ms]": (
        pa.array([1_704_067_200_001, None], pa.timestamp("ms", "Europe/Paris")),
        {},
        "TIMESTAMP",
        [f"{MIDNIGHT}.001000Z", None],
    ),
    "timestamp[us]": (
        pa.array([START, -1], pa.timestamp("us")),
        {},
        "TIMESTAMP",
        [f"{MIDNIGHT}.000000Z", "1969-12-31T23:59:59.999999Z"],
    ),
    "timestamp[ns]": (
        pa.array([START * 1000 + 1, None], pa.timestamp("ns")),
        {},
        "TIMESTAMP_NS",
        [f"{MIDNIGHT}.000000001Z", None],
    ),
    "timestamp[ms] as DATE": (
        pa.array([1_704_067_200_001, None], pa.timestamp("ms")),
        {"types": {"x": "DATE"}},
        "DATE",
        [f"{MIDNIGHT}.001Z", None],
    ),
    "date32": (pa.array([DAY, None]), {}, "TIMESTAMP", [f"{MIDNIGHT}.000000Z", None]),
    "date32 as DATE": (
        pa.array([DAY, None]),
        {"types": {"x": "DATE"}},
        "DATE",
        [f"{MIDNIGHT}.000Z", None],
    ),
    "date64": (
        pa.array([DAY, None], pa.date64()),
        {},
        "TIMESTAMP",
        [f"{MIDNIGHT}.000000Z", None],
    ),
    "decimal32": (
        pa.array([Decimal("1.25"), None], pa.decimal32(5, 2)),
        {},
        "DECIMAL(18,2)",
        ["1.25", None],
    ),
    "decimal64": (
        pa.array([Decimal("-1.25"), None], pa.decimal64(18, 2)),
        {},
        "DECIMAL(18,2)",
        ["-1.25", None],
    ),
    "decimal128 small": (
        pa.array([Decimal("-1.25"), None], pa.decimal128(10, 2)),
        {},
        "DECIMAL(18,2)",
        ["-1.25", None],
    ),
    "decimal128": (
        pa.array([Decimal("-" + "9" * 36 + ".99"), None], pa.decimal128(38, 2)),
        {},
        "DECIMAL(38,2)",
        ["-" + "9" * 36 + ".99", None],
    ),
    "decimal256": (
        pa.array([Decimal("9" * 70 + ".99"), None], pa.decimal256(76, 2)),
        {},
        "DECIMAL(76,2)",
        ["9" * 70 + ".99", None],
    ),
    "fixed_size_binary as UUID": (
        pa.array([KEY.bytes, None], pa.binary(16)),
        {"types": {"x": "UUID"}},
        "UUID",
        [str(KEY), None],
    ),
    "uuid": (pa.array([KEY.bytes, None], pa.uuid()), {}, "UUID", [str(KEY), None]),
    "fixed_size_binary as LONG256": (
        pa.array([bytes([1, *[0] * 30, 2]), None], pa.binary(32)),
        {"types": {"x": "LONG256"}},
        "LONG256",
        ["0x02" + "00" * 30 + "01", ""],
    ),
    "list<double>": (
        pa.array([[1.0, 2.5], None, []]),
        {},
        "DOUBLE[]",
        [[1.0, 2.5], None, []],
    ),
    "large_list<float>": (
        pa.array([[1.5], None], pa.large_list(pa.float32())),
        {},
        "DOUBLE[]",
        [[1.5], None],
    ),
    "fixed_size_list<double>": (
        pa.array([[1.0, 2.0], None], pa.list_(pa.float64(), 2)),
        {},
        "DOUBLE[]",
        [[1.0, 2.0], None],
    ),
}


@pytest.mark.parametrize("name", EVERY_TYPE)
def test_arrow_types(server: ServerProcess, name: str) -> None:
    values, options, kind, expected = EVERY_TYPE[name]
    table = "arrow_" + re.sub(r"\W+", "_", name)
    write(server, table, {"x": values}, **options)
    assert column_type(server, table) == kind
    assert read(server, table) == expected


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("binary", pa.array([b"\x00\xff", None, b""])),
        ("large_binary", pa.array([b"\x00\xff", None, b""], pa.large_binary())),
        ("binary_view", pa.array([b"\x00\xff", None, b""], pa.binary_view())),
    ],
)
def test_binary(server: ServerProcess, kind: str, data: Any) -> None:
    write(server, kind, {"x": data})
    assert column_type(server, kind) == "BINARY"
    assert read(server, kind, "base64(x, 100)") == ["AP8=", None, ""]
    fixed = pa.array([b"ab", None], pa.binary(2))
    write(server, f"{kind}_fixed", {"x": fixed})
    assert read(server, f"{kind}_fixed", "base64(x, 100)") == ["YWI=", None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_designated_timestamps(server: ServerProcess, unit: str) -> None:
    factor = {"s": 10**6, "ms": 1000, "us": 1, "ns": 1}[unit]
    micros = np.array([START, START + 86_400_000_000])
    raw = micros * 1000 if unit == "ns" else micros // factor
    write(server, f"at_{unit}", {"x": [1, 2], "ts": pa.array(raw, pa.timestamp(unit))})
    kind = "TIMESTAMP_NS" if unit == "ns" else "TIMESTAMP"
    assert server.sql(
        f"SELECT type, designated FROM table_columns('at_{unit}') WHERE designated"
    ) == [[kind, True]]
    # The column is called as the server calls it, not as it is called here.
    assert server.sql(f"SELECT count() FROM table_columns('at_{unit}')") == [[2]]


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
