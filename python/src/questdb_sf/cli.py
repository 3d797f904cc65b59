"""The command ``questdb-sf``: looks at slots and frames, and puts slots right.

People get tables, programs get JSON (``--json``, on standard output). Exit status: 0 good (clean, torn, live, done),
1 refused (damage, or a rejection by the server), 2 could not look or do.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict

import questdb_sf
from questdb_sf import doctor, errors, frames, slot_commands, slots

_Command = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    options = _parser().parse_args(arguments)
    command: _Command = options.run
    try:
        return command(options)
    except slot_commands.NotRepairable as error:
        print(f"questdb-sf: {error}", file=sys.stderr)
        return 1
    except errors.QuestDBSfError as error:
        print(f"questdb-sf: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # SlotUnreadable and SlotHeld among them
        if isinstance(error, BrokenPipeError):
            return 0
        print(f"questdb-sf: {error}", file=sys.stderr)
        return 2
    except frames.MalformedMessage as error:
        print(f"questdb-sf: not a QWP message: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="questdb-sf",
        description="Store-and-forward slots and frames of questdb-sf: look at them, put them right.",
    )
    parser.add_argument("--version", action="version", version=questdb_sf.__version__)
    topics = parser.add_subparsers(required=True, metavar="slots|frame|doctor")

    slot = topics.add_parser("slots", help="slot directories on disk").add_subparsers(
        required=True, metavar="list|show|verify|dump|extract|drain|repair|quarantine|clear-failed"
    )
    _command(slot, "list", _list, "every slot below a directory, a line each", "sf_dir")
    _command(slot, "show", _show, "what recovery would find in a slot", "slot")
    _command(slot, "verify", _verify, "every slot below a directory must be clean", "sf_dir")
    dump = _command(slot, "dump", _dump, "every readable frame of a slot, a line each", "slot")
    dump.add_argument("--rows", action="store_true", help="the rows' values as well")
    _writing_commands(slot)

    frame = topics.add_parser("frame", help="single messages").add_subparsers(
        required=True, metavar="decode"
    )
    _command(frame, "decode", _decode, "a message given in hexadecimal (- reads it)", "hex")
    _command(topics, "doctor", _doctor, "what is wrong on this host, and what to do", "sf_dir")
    return parser


def _writing_commands(slot: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    extract = _command(
        slot, "extract", _extract, "every readable frame with its rows, to a file", "slot"
    )
    extract.add_argument("file", help="is made, readable by its owner only; - is standard output")
    drain = _command(slot, "drain", _drain, "send a slot to a server, to the end", "slot")
    drain.add_argument(
        "--connect-string",
        metavar="S",
        help=f"where to; better in the environment, as {slot_commands.CONNECT_STRING_VARIABLE}",
    )
    drain.add_argument(
        "--any-target", action="store_true", help="also where the slot is for another server"
    )
    repair = _command(slot, "repair", _repair, "keep the frames before the damage", "slot")
    repair.add_argument("--yes", action="store_true", help="do it; without, it is only said")
    _command(slot, "quarantine", _quarantine, "set a slot aside, which frees its name", "slot")
    _command(slot, "clear-failed", _clear_failed, "have a given-up slot tried again", "slot")


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
                    "?" if r.verdict == slots.UNREADABLE else r.waiting,
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
    if report.newer:
        print(f"newer      {report.newer}: not sent by this version, drain it with its own program")
    if report.failed is not None:
        print(f"failed     {report.failed}")
    print(f"lock       {f'held by PID {report.pid}' if report.held else 'free'}")
    print(
        f"frames     FSN {report.base_fsn} to {report.published_fsn}, acknowledged to {report.acked_fsn}"
    )
    print(f"symbols    {report.symbols}\n")
    _table(
        ("segment", "base FSN", "frames", "valid end", "torn bytes"),
        [(s.file, s.base_fsn, s.frames, s.valid_end, s.torn_bytes) for s in report.segments],
    )
    return _status([report])


def _verify(options: argparse.Namespace) -> int:
    reports = slots.list_slots(options.sf_dir)
    bad: dict[str, dict[str, str | None]] = {
        "refused": {r.slot: r.reason for r in reports if r.verdict == slots.REFUSED},
        "newer": {r.slot: r.newer for r in reports if r.newer},
        "unreadable": {r.slot: r.reason for r in reports if r.verdict == slots.UNREADABLE},
    }
    if options.json:
        print(json.dumps({"slots": len(reports), **bad}))
    else:
        for what, named in bad.items():
            for slot, reason in named.items():
                print(f"{what}: {slot}: {reason}")
        print(
            f"{len(reports)} slots looked at, {len(bad['refused'])} refused, "
            f"{len(bad['newer'])} of a newer format that this version does not send, "
            f"{len(bad['unreadable'])} that cannot be looked at"
        )
    return 1 if bad["newer"] else _status(reports)


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


def _extract(options: argparse.Namespace) -> int:
    if options.file == "-":
        count, rows = slot_commands.extract(options.slot, sys.stdout)
    else:
        descriptor = os.open(options.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            count, rows = slot_commands.extract(options.slot, out)
    report = slots.inspect(options.slot)
    print(f"{count} frames with {rows} rows; the slot is {report.verdict}", file=sys.stderr)
    if options.json and options.file != "-":
        print(json.dumps({"frames": count, "rows": rows, "verdict": report.verdict}))
    return _status([report])


def _drain(options: argparse.Namespace) -> int:
    return slot_commands.drain(options.slot, options.connect_string, options.any_target)


def _repair(options: argparse.Namespace) -> int:
    run = slot_commands.repair if options.yes else slot_commands.plan_repair
    plan = run(options.slot)
    if options.json:
        print(json.dumps({**asdict(plan), "done": bool(options.yes and plan.given_up)}))
    elif not plan.given_up:
        print("nothing to repair: recovery accepts this slot as it is")
    else:
        print(f"{'kept' if options.yes else 'would keep'}: {plan.kept_frames} frames")
        for what in plan.given_up:
            print(f"{'given up' if options.yes else 'would give up'}: {what}")
    if not plan.given_up:
        return 0
    if options.yes:
        print("what was there before is beside it, as .corrupt", file=sys.stderr)
        if slots.inspect(options.slot).failed is not None:
            print(f"to have it sent: questdb-sf slots clear-failed {options.slot}", file=sys.stderr)
        return 0
    print(
        f"Nothing was changed. First save what can be read: questdb-sf slots extract {options.slot} FILE. "
        "Then run this again with --yes.",
        file=sys.stderr,
    )
    return 1


def _quarantine(options: argparse.Namespace) -> int:
    aside = slot_commands.quarantine(options.slot)
    print(json.dumps({"slot": str(aside)}) if options.json else f"set aside as {aside}")
    return 0


def _clear_failed(options: argparse.Namespace) -> int:
    said = slot_commands.clear_failed(options.slot)
    if options.json:
        print(json.dumps({"cleared": said is not None, "reason": said}))
    else:
        print("it had no .failed" if said is None else f"cleared; it said: {said}")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    diagnosis = doctor.examine(options.sf_dir)
    if options.json:
        print(json.dumps(diagnosis.to_json()))
        return 1 if diagnosis.needs_action else 0
    print(
        f"{diagnosis.sf_dir}: {diagnosis.file_system}, {diagnosis.free_bytes >> 20} MiB free, "
        f"{diagnosis.slots} slots, {diagnosis.unacked_frames} frames wait"
    )
    for finding in diagnosis.findings:
        print(f"{finding.level:8}{finding.about}: {finding.what}")
        if finding.todo:
            print(f"{'':8}  -> {finding.todo}")
    return 1 if diagnosis.needs_action else 0


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
            [f"{n} {c['type']}" for n, c in zip(names, table["columns"], strict=True)],
            [[row[n] for n in names] for row in table["data"]],
        )
    return 0


def _status(reports: Sequence[slots.SlotReport]) -> int:
    verdicts = {r.verdict for r in reports}
    return 1 if slots.REFUSED in verdicts else 2 if slots.UNREADABLE in verdicts else 0


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table for people, columns as wide as what is in them."""
    lines = [list(head), *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )


if __name__ == "__main__":
    sys.exit(main())
