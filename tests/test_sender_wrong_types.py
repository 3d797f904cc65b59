"""The engine in this process: what is of a wrong Python type is refused by name, and nothing is left out."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from harness.sending import DRAIN_SECONDS, START, open_sender, times
from harness.server import ServerProcess
from questdb_sf.errors import DataError, ErrorCode
from questdb_sf.sender import Micros, Nanos

pytest.importorskip("jpype")
pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

ROW: dict[str, Any] = {"table": "wrong", "columns": {"x": 1}, "at": Micros(START)}


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        ({"table": None}, ["table's name", "None"]),
        ({"table": b"wrong"}, ["table's name", "bytes"]),
        ({"symbols": {"s": b"\xff\xfe"}}, ["'wrong'", "'s'", "bytes"]),
        ({"symbols": {"s": 5}}, ["'wrong'", "'s'", "5", "int"]),
        ({"symbols": {"s": ["a"]}}, ["'wrong'", "'s'", "list"]),
        ({"symbols": {5: "a"}}, ["'wrong'", "5", "int"]),
        ({"symbols": ["s"]}, ["'wrong'", "symbols", "list"]),
        ({"columns": {5: 1}}, ["'wrong'", "5", "int"]),
        ({"columns": {None: 1}}, ["'wrong'", "None"]),
        ({"columns": "x"}, ["'wrong'", "columns", "str"]),
        ({"columns": {"x": {1}}}, ["'wrong'", "'x'", "set"]),
        ({"columns": {"x": [1.0]}}, ["'wrong'", "'x'", "list"]),
        ({"columns": {"x": pd.NA}}, ["'wrong'", "'x'", "NAType"]),
        ({"columns": {"x": 1j}}, ["'wrong'", "'x'", "complex"]),
        ({"columns": {"x": datetime.timedelta(1)}}, ["'wrong'", "'x'", "timedelta"]),
        ({"columns": {"x": Micros(1.5)}}, ["'wrong'", "'x'", "1.5", "float"]),  # type: ignore[arg-type]
        ({"columns": {"x": np.datetime64(1, "s")}}, ["'wrong'", "'x'", "datetime64"]),
        ({"at": Micros(1.5)}, ["'wrong'", "designated", "1.5", "float"]),  # type: ignore[arg-type]
        ({"at": Nanos("1")}, ["'wrong'", "designated", "'1'", "str"]),  # type: ignore[arg-type]
        ({"at": None}, ["'wrong'", "designated", "None"]),
        ({"at": "2024-01-01"}, ["'wrong'", "designated", "str"]),
    ],
    ids=str,
)
def test_a_row_with_a_value_of_a_wrong_type_is_refused(
    server: ServerProcess, wrong: dict[str, Any], names: list[str]
) -> None:
    with open_sender(server) as sender:
        with pytest.raises(DataError) as refused:
            sender.row(**{**ROW, **wrong})
        assert refused.value.code is ErrorCode.TYPE_UNSUPPORTED
        for name in names:
            assert name in str(refused.value)
        assert sender.flush() == -1, "something of the row was kept"


@pytest.mark.parametrize(
    "wrong",
    [{"table": "t\ud800"}, {"columns": {"x\ud800": 1}}, {"symbols": {"x\ud800": "a"}}],
    ids=["table", "column", "symbol"],
)
def test_a_name_with_half_of_a_surrogate_pair_is_refused(
    server: ServerProcess, wrong: dict[str, Any]
) -> None:
    with open_sender(server) as sender:
        with pytest.raises(DataError, match="half of a surrogate pair at character 1") as refused:
            sender.row(**{**ROW, **wrong})
        assert refused.value.code is ErrorCode.NAME_INVALID


@pytest.mark.parametrize(
    "wrong", [{"symbols": {"x": "a\ud800"}, "columns": {}}, {"columns": {"x": "a\ud800"}}]
)
def test_a_text_with_half_of_a_surrogate_pair_is_refused_with_its_column(
    server: ServerProcess, wrong: dict[str, Any]
) -> None:
    with open_sender(server) as sender:
        with pytest.raises(DataError, match=r"'wrong', column 'x': .* at character 1") as refused:
            sender.row(**{**ROW, **wrong})
        assert refused.value.code is ErrorCode.VALUE_INVALID


def test_whole_numbers_of_any_kind_are_times(server: ServerProcess) -> None:
    with open_sender(server) as sender:
        sender.row("whole", columns={"x": Nanos(np.int64(5))}, at=Micros(np.uint32(7)))
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count("whole", 1) == 1
    assert server.sql("SELECT timestamp FROM whole") == [["1970-01-01T00:00:00.000007Z"]]


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"table": None}, "table's name"),
        ({"symbols": "side"}, "symbols"),
        ({"symbols": 5}, "symbols"),
        ({"zero_for_null": "x"}, "zero_for_null"),
        ({"types": ["x"]}, "types"),
        ({"types": {"x": int}}, "types"),
        ({"timestamp": 2}, "timestamp"),
    ],
    ids=str,
)
def test_arguments_of_write_of_a_wrong_type_are_refused(
    server: ServerProcess, wrong: dict[str, Any], name: str
) -> None:
    data = pa.table({"x": ["a"], "ts": times(1)})
    with open_sender(server) as sender:
        with pytest.raises(DataError, match=name) as refused:
            sender.write(data, **{"table": "wrong", "timestamp": "ts", **wrong})
        assert refused.value.code is ErrorCode.TYPE_UNSUPPORTED
        assert sender.counters().rows_written == 0


@pytest.mark.parametrize(
    "index",
    [
        pd.DatetimeIndex(["2024-01-01", "2024-01-02"]),
        pd.Index(["a", "b"]),
        pd.Index([1.5, 2.5]),
        pd.MultiIndex.from_tuples([(1, "a"), (2, "b")]),
        pd.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["id", None]),
    ],
    ids=["times", "texts", "floats", "levels", "level"],
)
def test_an_index_without_a_name_is_refused_not_left_out(server: ServerProcess, index: Any) -> None:
    frame = pd.DataFrame({"x": [1, 2]}, index=index)
    with open_sender(server) as sender:
        with pytest.raises(DataError, match=r"'wrong': the index .* has no name") as refused:
            sender.write(frame, table="wrong", timestamp=None)
        assert refused.value.code is ErrorCode.NAME_INVALID
        assert sender.counters().rows_written == 0


def test_the_numbers_of_rows_are_no_data_and_a_named_index_is(server: ServerProcess) -> None:
    frame = pd.DataFrame({"x": [1, 2, 3]})
    with open_sender(server) as sender:
        assert sender.write(frame[frame.x > 1], table="numbers", timestamp=None) == 2
        named = pd.DataFrame({"x": [1]}, index=pd.DatetimeIndex(["2024-01-01"], name="ts"))
        assert sender.write(named, table="named", timestamp="ts") == 1
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count("numbers", 2) == 2
    assert server.await_count("named", 1) == 1
    assert server.sql("SELECT \"column\" FROM table_columns('numbers') ORDER BY 1") == [
        ["timestamp"],
        ["x"],
    ]


def test_a_pandas_column_of_mixed_values_is_refused_by_name(server: ServerProcess) -> None:
    with open_sender(server) as sender:
        with pytest.raises(DataError, match=r"'wrong'.*column bad") as refused:
            sender.write(pd.DataFrame({"bad": [1, "a"]}), table="wrong", timestamp=None)
        assert refused.value.code is ErrorCode.TYPE_UNSUPPORTED


def test_the_advice_for_arrays_of_two_dimensions_can_be_followed(server: ServerProcess) -> None:
    data = pa.table({"x": pa.array([[[1.0, 2.0], [3.0, 4.0]]])})
    with open_sender(server) as sender:
        with pytest.raises(DataError, match=r"'x'.*numpy array to row\(\)") as refused:
            sender.write(data, table="wrong", timestamp=None)
        assert refused.value.code is ErrorCode.TYPE_UNSUPPORTED
        sender.row("square", columns={"x": np.array(data["x"][0].as_py())}, at=Micros(START))
        assert sender.drain(DRAIN_SECONDS)
    assert server.await_count("square", 1) == 1
    assert server.sql("SELECT x[2, 1] FROM square") == [[3.0]]
