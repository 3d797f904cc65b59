"""The command ``questdb-sf``: looks at slots and frames.

People get tables, programs get JSON (``--json``, on standard output). Exit status of ``slots``: 0 clean, torn or
live, 1 refused, 2 could not look.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence

import questdb_sf
from questdb_sf import frames, slots

_Command = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    options = _parser().parse_args(arguments)
    command: _Command = options.run
    try:
        return command(options)
    except slots.SlotUnreadable as error:
        print(f"questdb-sf: {error}", file=sys.stderr)
        return 2
    except frames.MalformedMessage as error:
        print(f"questdb-sf: not a QWP message: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="questdb-sf", description="Look at the store-and-forward slots and frames of questdb-sf."
    )
    parser.add_argument("--version", action="version", version=questdb_sf.__version__)
    topics = parser.add_subparsers(required=True, metavar="slots|frame")

    slot = topics.add_parser("slots", help="slot directories on disk").add_subparsers(
        required=True, metavar="list|show|verify|dump"
    )
    _command(slot, "list", _list, "every slot below a directory, a line each", "sf_dir")
    _command(slot, "show", _show, "what recovery would find in a slot", "slot")
    _command(slot, "verify", _verify, "every slot below a directory must be clean", "sf_dir")
    dump = _command(slot, "dump", _dump, "every readable frame of a slot, a line each", "slot")
    dump.add_argument("--rows", action="store_true", help="the rows' values as well")

    frame = topics.add_parser("frame", help="single messages").add_subparsers(
        required=True, metavar="decode"
    )
    _command(frame, "decode", _decode, "a message given in hexadecimal (- reads it)", "hex")
    return parser


def _command(
    topic: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: _Command,
    what: str,
    argument: str,
) -> argparse.ArgumentParser:
    parser = topic.add_parser(name, help=what, description=what)
    parser.add_argument(argument)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(run=run)
    return parser


def _list(options: argparse.Namespace) -> int:
    reports = slots.list_slots(options.sf_dir)
    if options.json:
        print(json.dumps([r.to_json() for r in reports]))
    else:
        _table(
            ("slot", "format", "verdict", "unacked frames", "bytes torn", "held by", "failed"),
            [
                (
                    r.slot,
                    r.format,
                    r.verdict,
                    r.published_fsn - r.acked_fsn,
                    r.torn_bytes,
                    (r.pid or "?") if r.held else "-",
                    (r.failed or "yes").splitlines()[0] if r.failed is not None else "-",
                )
                for r in reports
            ],
        )
    return _status(reports)


def _show(options: argparse.Namespace) -> int:
    report = slots.inspect(options.slot)
    if options.json:
        print(json.dumps(report.to_json()))
        return _status([report])
    print(f"slot       {report.slot} (format {report.format})")
    print(f"verdict    {report.verdict}" + (f": {report.reason}" if report.reason else ""))
    if report.failed is not None:
        print(f"failed     {report.failed}")
    print(f"lock       {f'held by PID {report.pid}' if report.held else 'free'}")
    print(f"frames     FSN {report.base_fsn} to {report.published_fsn}, acknowledged to {report.acked_fsn}")
    print(f"symbols    {report.symbols}\n")
    _table(
        ("segment", "base FSN", "frames", "valid end", "torn bytes"),
        [(s.file, s.base_fsn, s.frames, s.valid_end, s.torn_bytes) for s in report.segments],
    )
    return _status([report])


def _verify(options: argparse.Namespace) -> int:
    reports = slots.list_slots(options.sf_dir)
    bad = [r for r in reports if r.verdict == slots.REFUSED]
    if options.json:
        print(json.dumps({"slots": len(reports), "refused": {r.slot: r.reason for r in bad}}))
    else:
        for report in bad:
            print(f"refused: {report.slot}: {report.reason}")
        print(f"{len(reports)} slots looked at, {len(bad)} refused")
    return _status(reports)


def _dump(options: argparse.Namespace) -> int:
    for line in slots.dump(options.slot, rows=options.rows):
        if options.json:
            print(json.dumps(line))
            continue
        tables = ", ".join(f"{t['table']} ({t['rows']} rows)" for t in line.get("tables", []))
        what = tables or line.get("malformed", "no tables")
        print(
            f"FSN {line['fsn']}  {line['segment']}+{line['offset']}  {line['length']} bytes  {what}"
        )
        for table in line.get("tables", []) if options.rows else []:
            for row in table["data"]:
                print(f"    {row}")
    return _status([slots.inspect(options.slot)])


def _decode(options: argparse.Namespace) -> int:
    text = sys.stdin.read() if options.hex == "-" else options.hex
    try:
        message = bytes.fromhex(text)
    except ValueError as error:
        raise frames.MalformedMessage(f"not hexadecimal: {error}") from error
    decoded = frames.decode(message).to_json()
    if options.json:
        print(json.dumps(decoded))
        return 0
    print(f"flags 0x{decoded['flags']:02x}")
    for table in decoded["tables"]:
        print(f"\n{table['table']}: {table['rows']} rows")
        names = [c["name"] or frames.DESIGNATED for c in table["columns"]]
        _table(
            [f"{n} {c['type']}" for n, c in zip(names, table["columns"])],
            [[row[n] for n in names] for row in table["data"]],
        )
    return 0


def _status(reports: Sequence[slots.SlotReport]) -> int:
    return 1 if any(r.verdict == slots.REFUSED for r in reports) else 0


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table for people, columns as wide as what is in them."""
    lines = [list(head), *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
