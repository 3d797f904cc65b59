"""The engine in this process: Arrow columns and values that are refused, by name and row; the rest can be written."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from harness.sending import (
    DRAIN_SECONDS,
    open_sender,
    times,
)
from harness.server import ServerProcess
from questdb_sf.errors import (
    DataError,
    ErrorCode,
)

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    "data",
    [
        pa.array([1], pa.time64("us")),
        pa.array([1], pa.duration("us")),
        pa.array([{"a": 1}]),
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array([[1]]),
        pa.array([[[1.0]]]),
        pa.array([Decimal("100")], pa.decimal128(5, -2)),
        # Extension types whose storage is another value: 12 months, one row of four numbers, 1.
        pa.array(pd.arrays.PeriodArray._from_sequence([pd.Period("1971-01")], dtype="period[M]")),
        pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((1, 2, 2))),
        pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8())),
    ],
    ids=lambda a: str(a.type),
)
def test_unsupported_types_are_refused_by_name_before_anything_is_written(
    server: ServerProcess, data: Any
) -> None:
    with open_sender(server) as sender:
        with pytest.raises(DataError) as refused:
            sender.write(
                pa.table({"good": [1], "bad one": data, "ts": times(1)}),
                table="unsupported",
                timestamp="ts",
            )
        assert refused.value.code is ErrorCode.TYPE_UNSUPPORTED
        for part in ("'unsupported'", "'bad one'", str(data.type)):
            assert part in str(refused.value)
        assert sender.counters().rows_written == 0


@pytest.mark.parametrize(
    ("data", "options", "row"),
    [
        (pa.array([*[1] * 199_999, -(2**63)]), {}, 199_999),
        (pa.array([*[True] * 150_000, None, *[True] * 49_999]), {}, 150_000),
        (pa.array([*[1] * 100_000, 2**63, *[1] * 99_999], pa.uint64()), {}, 100_000),
        (
            pa.array([*[1] * 100_000, 40_000, *[1] * 99_999]),
            {"types": {"x": "SHORT"}},
            100_000,
        ),
        (pa.array([*[[1.0]] * 100_000, [None], *[[1.0]] * 99_999]), {}, 100_000),
        (pa.array([*[1.0] * 100_000, math.inf, *[1.0] * 99_999]), {}, 100_000),
        (pa.array([*[1.0] * 100_000, -math.inf, *[1.0] * 99_999], pa.float32()), {}, 100_000),
        (pa.array([*[[1.0]] * 100_000, [1, math.inf], *[[1.0]] * 99_999]), {}, 100_000),
        (
            pa.array([*[65] * 100_000, 0xDC00, *[65] * 99_999], pa.uint16()),
            {"types": {"x": "CHAR"}},
            100_000,
        ),
        (
            pa.Array.from_buffers(
                pa.string(),
                200_000,
                [
                    None,
                    pa.py_buffer(np.arange(200_001, dtype=np.int32)),
                    pa.py_buffer(b"a" * 120_000 + b"\xff" + b"a" * 79_999),
                ],
            ),
            {},
            120_000,
        ),
    ],
    ids=[
        *["lowest", "null", "uint64", "short", "element", "infinity", "infinity32", "infinities"],
        *["half", "utf8"],
    ],
)
def test_a_refused_value_is_named_by_row_and_the_rest_can_be_written(
    server: ServerProcess,
    request: pytest.FixtureRequest,
    data: Any,
    options: Any,
    row: int,
) -> None:
    name = f"value_{request.node.callspec.id}"
    table = pa.table({"n": np.arange(len(data)), "x": data, "ts": times(len(data))})
    with open_sender(server) as sender:
        with pytest.raises(DataError) as refused:
            sender.write(table, table=name, timestamp="ts", **options)
        assert refused.value.code is ErrorCode.VALUE_INVALID
        assert f"row {row}:" in str(refused.value)
        assert "'x'" in str(refused.value)
        written = refused.value.rows_written
        assert written is not None
        assert row - 65_536 <= written <= row
        assert sender.counters().rows_written == written
        rest = pa.concat_tables([table.slice(written, row - written), table.slice(row + 1)])
        assert sender.write(rest, table=name, timestamp="ts", **options) == rest.num_rows
        assert sender.drain(DRAIN_SECONDS)
    rows = table.num_rows - 1
    assert server.await_count(name, rows, 240) == rows
    assert server.sql(f"SELECT count_distinct(n), sum(n) FROM {name}") == [
        [rows, sum(range(table.num_rows)) - row]
    ]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.timestamp("us"), -1),
        (pa.timestamp("us"), 253_402_300_800_000_000),
        (pa.timestamp("ns"), 9_214_646_400_000_000_000),
        (pa.timestamp("s"), -1),
        (pa.timestamp("ms"), 253_402_300_800_000),
        (pa.date32(), -1),
    ],
    ids=str,
)
def test_a_designated_time_that_questdb_does_not_take_is_named_by_row(
    server: ServerProcess, kind: Any, value: int
) -> None:
    table = pa.table({"x": [1, 2, 3], "ts": pa.array([1, value, 2], kind)})
    with open_sender(server) as sender:
        with pytest.raises(DataError, match=r"designated timestamp .* row 1: ") as refused:
            sender.write(table, table="refused_times", timestamp="ts")
        assert refused.value.code is ErrorCode.VALUE_INVALID
        assert str(value) in str(refused.value)
        assert sender.counters().rows_written == 0


def test_a_row_that_fits_no_frame_is_refused_alone(server: ServerProcess) -> None:
    texts = ["a"] * 5_000
    texts[4_321] = "x" * (20 * 1024 * 1024)
    table = pa.table({"x": texts, "ts": times(5_000)})
    with open_sender(server) as sender:
        with pytest.raises(DataError) as refused:
            sender.write(table, table="too_large", timestamp="ts")
        assert refused.value.code is ErrorCode.FRAME_TOO_LARGE
        assert "row 4321 " in str(refused.value)
        assert sender.counters().rows_written == refused.value.rows_written
        assert refused.value.rows_written is not None
        assert refused.value.rows_written <= 4_321
        assert sender.write(table.slice(4_322), table="too_large", timestamp="ts") == 678


def test_columns_that_are_not_there_or_there_twice_are_named(
    server: ServerProcess,
) -> None:
    table = pa.table({"a": [1], "ts": times(1)})
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2]), times(1)], names=["a", "A", "ts"])
    with open_sender(server) as sender:
        for options in (
            {"timestamp": "time"},
            {"timestamp": "ts", "symbols": ["nope"]},
            {"timestamp": "ts", "types": {"nope": "LONG"}},
            {"timestamp": "ts", "zero_for_null": ["nope"]},
        ):
            with pytest.raises(DataError, match="columns are a, ts") as refused:
                sender.write(table, table="names", **options)
            assert refused.value.code is ErrorCode.NAME_INVALID
        with pytest.raises(DataError, match="'a' and 'A' are one, given twice"):
            sender.write(twice, table="names", timestamp="ts")
        # The time is a column as well: beside another of its name it would shift the times of later rows.
        with pytest.raises(DataError, match="'ts' and 'TS' are one, given twice"):
            sender.write(
                pa.table({"a": [1], "ts": times(1), "TS": times(1)}), table="names", timestamp="ts"
            )
        with pytest.raises(DataError, match="designated") as no_time:
            sender.write(table, table="names", timestamp="a")
        assert no_time.value.code is ErrorCode.TYPE_UNSUPPORTED
        with pytest.raises(DataError, match="row 1") as null_time:
            sender.write(
                pa.table({"a": [1, 2], "ts": pa.array([1, None], pa.timestamp("us"))}),
                table="names",
                timestamp="ts",
            )
        assert null_time.value.code is ErrorCode.VALUE_INVALID
        with pytest.raises(DataError, match="no column"):
            sender.write(pa.table({"a": pa.array([None])}), table="names", timestamp=None)
        with pytest.raises(DataError) as name:
            sender.write(table, table="bad\nname", timestamp="ts")
        assert name.value.code is ErrorCode.NAME_INVALID
        assert sender.counters().rows_written == 0
