"""What happens to tables, which rows have to be there afterwards, and the verdict by SQL.

A row is a function of its number ``n``. Rows that were acknowledged before the event, or not yet sent when it was over,
are judged one by one; of those that were on their way only values are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from harness.sending import START
from harness.server import ServerProcess

DAY_MICROS = 86_400_000_000
DDL = (
    "CREATE TABLE IF NOT EXISTS '{t}' (n LONG, v INT, s SYMBOL, w VARCHAR, ts TIMESTAMP)"
    " TIMESTAMP(ts) PARTITION BY DAY WAL"
)
COLUMNS = "n LONG, v INT, s STRING, w STRING, ts LONG"


def row(n: int) -> dict[str, Any]:
    """Row ``n``; odd ones are a day later. ``ts`` is in microseconds."""
    return {
        "n": n,
        "v": n * 7,
        "s": f"s{n % 5}",
        "w": f"word {n} ä",
        "ts": START + n % 2 * DAY_MICROS + n,
    }


def _all(_: int) -> bool:
    return True


def _none(_: int) -> bool:
    return False


def _odd(n: int) -> bool:
    return n % 2 == 1


@dataclass(frozen=True)
class Event:
    """``statements`` make it; ``{t}`` is the table, ``{u}`` the name that it gets in a RENAME,
    ``{ts}`` is its designated timestamp.

    :param stays: which of the rows that were acknowledged before are still there
    :param also_in: where rows may be besides ``{t}``
    :param later: statements after further rows were written
    :param loses: a column whose earlier values are gone, and with them, as a server does it, those of the first frame
        of each connection
    :param moves: the column where ``loses`` is found instead
    """

    statements: tuple[str, ...]
    stays: Callable[[int], bool] = _all
    also_in: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    loses: str | None = None
    moves: str | None = None


EVENTS = {
    "drop": Event(("DROP TABLE '{t}'",), _none),
    "drop and create": Event(("DROP TABLE '{t}'", DDL), _none),
    "rename": Event(("RENAME TABLE '{t}' TO '{u}'",), also_in=("{u}",)),
    "rename and create": Event(("RENAME TABLE '{t}' TO '{u}'", DDL), also_in=("{u}",)),
    "rename and back": Event(("RENAME TABLE '{t}' TO '{u}'", "RENAME TABLE '{u}' TO '{t}'")),
    "truncate": Event(("TRUNCATE TABLE '{t}'",), _none),
    "add column": Event(("ALTER TABLE '{t}' ADD COLUMN z DOUBLE",)),
    "drop column": Event(("ALTER TABLE '{t}' DROP COLUMN v",), loses="v"),
    "drop and add column": Event(
        ("ALTER TABLE '{t}' DROP COLUMN v", "ALTER TABLE '{t}' ADD COLUMN IF NOT EXISTS v INT"),
        loses="v",
    ),
    "rename column": Event(("ALTER TABLE '{t}' RENAME COLUMN v TO z",), loses="v", moves="z"),
    "type of a number": Event(("ALTER TABLE '{t}' ALTER COLUMN v TYPE LONG",)),
    "type of a symbol": Event(("ALTER TABLE '{t}' ALTER COLUMN s TYPE VARCHAR",)),
    "type of a text": Event(("ALTER TABLE '{t}' ALTER COLUMN w TYPE SYMBOL",)),
    "index": Event(("ALTER TABLE '{t}' ALTER COLUMN s ADD INDEX",)),
    "symbol capacity": Event(("ALTER TABLE '{t}' ALTER COLUMN s SYMBOL CAPACITY 4096",)),
    "enable dedup": Event(("ALTER TABLE '{t}' DEDUP ENABLE UPSERT KEYS({ts}, n)",)),
    "enable and disable dedup": Event(
        (
            "ALTER TABLE '{t}' DEDUP ENABLE UPSERT KEYS({ts}, n)",
            "ALTER TABLE '{t}' DEDUP DISABLE",
        )
    ),
    "suspend": Event(("ALTER TABLE '{t}' SUSPEND WAL",), later=("ALTER TABLE '{t}' RESUME WAL",)),
    "suspend and resume": Event(("ALTER TABLE '{t}' SUSPEND WAL", "ALTER TABLE '{t}' RESUME WAL")),
    "drop partition": Event(("ALTER TABLE '{t}' DROP PARTITION LIST '2024-01-01'",), _odd),
    "detach partition": Event(("ALTER TABLE '{t}' DETACH PARTITION LIST '2024-01-01'",), _odd),
    "ttl": Event(("ALTER TABLE '{t}' SET TTL 1 WEEK",)),
    "parameter": Event(("ALTER TABLE '{t}' SET PARAM maxUncommittedRows = 10",)),
}


def happen(server: ServerProcess, statements: Sequence[str], table: str) -> None:
    """Runs the statements of an event."""
    for statement in statements:
        ts = designated(server, table) if "{ts}" in statement else ""
        server.sql(statement.format(t=table, u=f"{table}_renamed", ts=ts))


def designated(server: ServerProcess, table: str) -> str:
    """The name of a table's designated timestamp."""
    query = f"SELECT designatedTimestamp FROM tables() WHERE table_name = '{table}'"
    return str(server.sql(query)[0][0])


def exists(server: ServerProcess, table: str) -> bool:
    """Whether there is such a table."""
    return bool(server.sql(f"SELECT 1 FROM tables() WHERE table_name = '{table}'"))


def await_applied(server: ServerProcess, table: str) -> None:
    """Until SQL shows all that is acknowledged."""
    server.sql(f"SELECT wait_wal_table('{table}')")


def contents(server: ServerProcess, event: Event, table: str) -> dict[int, list[dict[str, Any]]]:
    """Rows by their number, from all tables where they may be."""
    found: dict[int, list[dict[str, Any]]] = {}
    for name in ("{t}", *event.also_in):
        place = name.format(t=table, u=f"{table}_renamed")
        if not exists(server, place):
            continue
        await_applied(server, place)
        columns = server.sql(f"SELECT \"column\", designated FROM table_columns('{place}')")
        names = [column for column, _ in columns]
        select = ", ".join(
            f'"{column}"::long' if designated else f'"{column}"' for column, designated in columns
        )
        for values in server.sql(f"SELECT {select} FROM '{place}'"):
            cells = dict(zip(names, values, strict=True))
            cells["ts"] = cells.pop("timestamp", cells.get("ts"))
            found.setdefault(cells["n"], []).append(cells)
    return found


def wrong(
    found: dict[int, list[dict[str, Any]]],
    event: Event,
    before: Collection[int],
    after: Collection[int],
    nulled: Collection[int],
    under_way: bool = False,
) -> list[str]:
    """What is not as it has to be, in words.

    :param before: rows that were written before the event
    :param after: rows that were written when it was over
    :param nulled: those of ``after`` in frames that may have been the first of their connection since the event
    :param under_way: not all of ``before`` was acknowledged, so that what the event takes may have come after it; and
        frames may have been sent twice
    """
    wanted = [n for n in before if event.stays(n)] + list(after)
    problems = [f"row {n} is missing" for n in wanted if n not in found]
    for n, rows in found.items():
        if not under_way:
            problems += [f"row {n} is there {len(rows)} times"] if len(rows) > 1 else []
            problems += [f"row {n} is still there"] if n in before and not event.stays(n) else []
        for cells in rows:
            problems += [
                f"row {n}: {name} is {cells.get(name)!r}, not {value!r}"
                for name, value in row(n).items()
                if cells.get(name) != value
                and not (
                    name == event.loses and may_be_lost(event, cells, n not in after or n in nulled)
                )
            ]
    return problems


def may_be_lost(event: Event, cells: dict[str, Any], allowed: bool) -> bool:
    """Whether a row may lack the value of the column that the event takes; a renamed column has it instead."""
    if cells.get(event.loses or "") is not None:
        return False
    return allowed and (
        event.moves is None or cells.get(event.moves) == row(cells["n"])[str(event.loses)]
    )
