"""The sink's options, typed and checked before Spark sees them, in the words of the JVM."""

from __future__ import annotations

import json
import os
import re
import zoneinfo
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from questdb_sf.errors import ConfigError, ErrorCode
from questdb_sf.spark._fields import OptionFields

_POLICIES = (
    "on_schema_error",
    "on_parse_error",
    "on_security_error",
    "on_write_error",
    "on_internal_error",
    "on_unknown_error",
    "on_server_error",
)
_ACK = (
    "a task commits when the server acknowledged all its rows; until then they wait in memory and Spark's checkpoint "
    "is the truth"
)
_STORE = "a task commits when its rows are in the local slot; from then on the slot is the truth"
_REFERENCES = ("${env:", "${file:")
_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
_SIZE = re.compile(r"([+-]?[0-9]+)([kmgt])b?\Z", re.IGNORECASE)
_OFFSET = re.compile(r"(?:Z|(?:UTC|GMT|UT)?[+-](?:\d|\d\d(?::?\d\d){0,2})|UTC|GMT|UT)\Z")
_LONGEST = 2**63 - 1


@dataclass(frozen=True, kw_only=True, repr=False)
class SinkOptions(OptionFields):
    """The options of ``format("questdb-sf")``, checked when it is made. See the options page for what each one does.

    ::

        options = SinkOptions(addr="localhost:9000", table="trips", timestamp="ts", symbols=["city"])
        stream.writeStream.format("questdb-sf").options(**options.to_options())

    Numbers, switches and lists may also be given as text, as Spark takes them. What is wrong raises
    :class:`~questdb_sf.errors.ConfigError` with the code and the words that the JVM has for it. What only a server or a
    query can tell (a schema that does not fit, a mode) is checked when the query starts. Equal and hashable by value;
    ``dataclasses.replace`` makes variants. Its ``repr`` shows no secret; references such as ``${env:NAME}`` are shown,
    and are resolved on the executors, at each connect.
    """

    def __post_init__(self) -> None:
        for name, option in table().items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _typed(option, value))
        _check_together(self._in_force())

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> SinkOptions:
        """From a mapping, names in any case, aliases included."""
        known: dict[str, Any] = {}
        for name, value in options.items():
            option = _named(name.lower())
            if option is None:
                raise unknown(name.lower())
            key = option["key"]
            if key in known and known[key] != value:
                raise ConfigError(
                    ErrorCode.CONFIG_CONFLICT,
                    f"option {key} is set twice (here as '{name}') with different values; keep one.",
                )
            known[key] = value
        return cls(**known)

    @classmethod
    def from_env(
        cls, prefix: str = "QUESTDB_SINK_", environ: Mapping[str, str] | None = None
    ) -> SinkOptions:
        """From environment variables: ``QUESTDB_SINK_ADDR`` is ``addr``, and so on.

        Empty ones count as not set. A variable with this prefix that is no option is an error, so that a typing error
        does not go unnoticed.
        """
        source = os.environ if environ is None else environ
        return cls.of(
            {
                name[len(prefix) :].lower(): value
                for name, value in source.items()
                if name.startswith(prefix) and value
            }
        )

    def to_options(self) -> dict[str, str]:
        """What is set, as text, for ``writeStream.options(**...)``; secrets included."""
        return {
            name: _text(value) for name in table() if (value := getattr(self, name)) is not None
        }

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={'***' if _is_literal_secret(name, text) else text!r}"
            for name, text in self.to_options().items()
        )
        return f"SinkOptions({shown})"

    def _in_force(self) -> dict[str, str]:
        """What is set here, and in a connect string that can be read without resolving a reference."""
        said = _connect_string_options(self.connect_string)
        said.update(self.to_options())
        return said


@cache
def tables() -> dict[str, Any]:
    """The JVM's tables of options and metrics."""
    text = (Path(__file__).parent / "_tables.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@cache
def table() -> dict[str, dict[str, Any]]:
    """The options by name."""
    return {option["key"]: option for option in tables()["options"]}


@cache
def _by_alias() -> dict[str, dict[str, Any]]:
    return {
        name: option
        for option in table().values()
        for name in (option["key"], *filter(None, option["aliases"].split(",")))
    }


def _named(name: str) -> dict[str, Any] | None:
    return _by_alias().get(name)


def _typed(option: dict[str, Any], value: Any) -> Any:
    """The value as its type wants it, or the JVM's error."""
    kind, name = option["kind"], option["key"]
    text = _text(value)
    if text == "":
        raise _invalid(name, text, f"is empty; give {option['takes']} or leave the key out")
    if kind == "BOOL":
        switch = {"on": True, "true": True, "off": False, "false": False}.get(text.lower())
        if switch is None:
            raise _invalid(name, text, "is not a switch; give on or off")
        return switch
    if kind == "ENUM":
        for word in option["words"]:
            if word.lower() == text.lower():
                return word
        raise _invalid(name, text, f"is not known; give {option['takes']}")
    if kind == "LIST":
        entries = tuple(entry.strip() for entry in text.split(","))
        if "" in entries:
            at = entries.index("") + 1
            raise _invalid(name, text, f"has an empty entry at position {at}; remove it")
        return entries
    if kind == "SECRET":
        _check_secret(name, text)
        return text
    if kind in ("INT", "MILLIS", "SIZE"):
        number = _number(option, text)
        return value if kind == "SIZE" and isinstance(value, str) else number
    return text


def _number(option: dict[str, Any], text: str) -> int:
    size = _SIZE.match(text) if option["kind"] == "SIZE" else None
    if size:
        number = int(size[1]) << 10 * ("kmgt".index(size[2].lower()) + 1)
        valid = 0 <= number <= _LONGEST
    else:
        valid = bool(_WHOLE.match(text)) and -_LONGEST - 1 <= int(text) <= _LONGEST
        number = int(text) if valid else 0
    if not valid:
        wanted = {
            "INT": "a whole number",
            "MILLIS": "a whole number of milliseconds",
            "SIZE": "bytes or a whole number with k, m, g or t (1024-based), for example 64m",
        }[option["kind"]]
        raise _invalid(option["key"], text, f"is not valid; give {wanted}")
    if not option["min"] <= number <= option["max"]:
        raise _invalid(option["key"], text, f"is out of range; give {option['takes']}")
    return number


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    if isinstance(value, Iterable):
        return ",".join(str(entry) for entry in value)
    return str(value)


def _check_secret(name: str, text: str) -> None:
    if not text.startswith("${"):
        return
    known = text.startswith(_REFERENCES) and text.endswith("}")
    if not known or not text[text.index(":") + 1 : -1].strip():
        raise ConfigError(
            ErrorCode.CONFIG_INVALID_VALUE,
            f"{name} begins with ${{ but is no reference that is known; give ${{env:NAME}} or ${{file:/path}}.",
        )


def _is_literal_secret(name: str, text: str) -> bool:
    return table()[name]["kind"] == "SECRET" and not text.startswith(_REFERENCES)


def _connect_string_options(text: str | None) -> dict[str, str]:
    """The options in a connect string; what is wrong with it is for the JVM to say."""
    if text is None or "::" not in text:
        return {}
    pairs = re.findall(r"([a-z0-9_]+)=((?:[^;]|;;)*)(?:;|\Z)", text.split("::", 1)[1])
    found: dict[str, str] = {}
    for name, value in pairs:
        option = _named(name)
        if option is not None:
            found[option["key"]] = value.replace(";;", ";")
    return found


def _check_together(said: dict[str, str]) -> None:
    """What options must satisfy together, in the JVM's order."""
    if said.get("connect_string", "").startswith(_REFERENCES):
        return  # nobody here knows what it says
    if "addr" not in said:
        raise _missing("addr is not set; give the server, for example addr=host:9000.")
    _check_table(said)
    _check_slots(said)
    _check_dead_letters(said)
    _check_zone(said.get("ntz_zone", "UTC"))
    commit_on = said.get("commit_on", "ack")
    creates = _on(said, "create_table") or said.get("on_missing_table") == "create"
    reach: dict[str, Callable[[str], str | None]] = {
        "STORE": lambda name: (
            None
            if commit_on == "store"
            else f"{name} is set with commit_on={commit_on}, where it has no effect; drop it, or choose "
            "commit_on=store."
        ),
        "SF_DIR": lambda name: (
            None
            if "sf_dir" in said
            else f"{name} is set without sf_dir, where it has no effect; drop it."
        ),
        "CREATE_TABLE": lambda name: (
            None
            if creates
            else f"{name} is set, but tables are not created here; drop it, or set create_table=on."
        ),
    }
    for name, option in table().items():
        complaint = (
            reach[option["where"]](name) if name in said and option["where"] in reach else None
        )
        if complaint:
            raise _conflict(complaint)


def _check_table(said: dict[str, str]) -> None:
    if "table" not in said and "table_column" not in said:
        raise _missing("table is not set; name the table, or the column that does (table_column).")
    if "table" in said and "table_column" in said:
        raise _conflict("table and table_column are both set; keep one.")
    if "timestamp" in said and _on(said, "server_timestamp"):
        raise _conflict(
            "timestamp is set and server_timestamp is on; a row has one designated timestamp, keep one."
        )


def _check_slots(said: dict[str, str]) -> None:
    if "sf_dir" in said and "commit_on" not in said:
        raise _missing(
            f"sf_dir is set without commit_on; say which. commit_on=ack: {_ACK} (sf_dir then only sends what earlier "
            f"runs left there). commit_on=store: {_STORE}."
        )
    if "sf_dir" not in said and said.get("commit_on") == "store":
        raise _missing(
            "commit_on=store needs sf_dir, a directory on a local disk of each executor that outlives it."
        )


def _check_dead_letters(said: dict[str, str]) -> None:
    if "dead_letter_dir" in said:
        return
    if said.get("on_row_error") == "dead_letter":
        raise _missing("on_row_error=dead_letter needs dead_letter_dir.")
    for policy in _POLICIES:
        if said.get(policy) == "drop":
            raise _missing(
                f"{policy}=drop needs dead_letter_dir: nothing is dropped that is not kept there."
            )


def _check_zone(zone: str) -> None:
    names = zoneinfo.available_timezones()
    # Without a time zone database here, only the JVM can tell.
    if names and zone not in names and not _OFFSET.match(zone):
        raise ConfigError(
            ErrorCode.CONFIG_INVALID_VALUE,
            f"ntz_zone={zone} is not a zone; give a name such as Europe/Paris, or UTC.",
        )


def _on(said: dict[str, str], name: str) -> bool:
    return said.get(name, "off").lower() in ("on", "true")


def _invalid(name: str, text: str, what: str) -> ConfigError:
    shown = f"{name}={text}" if text else name
    return ConfigError(ErrorCode.CONFIG_INVALID_VALUE, f"{shown} {what}.")


def _missing(message: str) -> ConfigError:
    return ConfigError(ErrorCode.CONFIG_MISSING, message)


def _conflict(message: str) -> ConfigError:
    return ConfigError(ErrorCode.CONFIG_CONFLICT, message)


def unknown(name: str) -> ConfigError:
    """The error for an option that does not exist, with the nearest name."""
    near = _nearest(name, _by_alias())
    advice = f"; did you mean {near}" if near else "; docs/options.md lists the keys"
    return ConfigError(ErrorCode.CONFIG_UNKNOWN_KEY, f"'{name}' is not a known key{advice}.")


def _nearest(typed: str, names: Iterable[str]) -> str | None:
    """The nearest name, if it differs in at most a third of its letters."""
    best: tuple[int, str] | None = None
    for name in names:
        distance = _distance(typed, name)
        if distance <= max(2, len(typed) // 3):
            best = min(best or (distance, name), (distance, name))
    return best[1] if best else None


def _distance(a: str, b: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that turn one into the other."""
    rows = [list(range(len(b) + 1))]
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            same = a[i - 1] == b[j - 1]
            least = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (not same))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                least = min(least, rows[i - 2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]
