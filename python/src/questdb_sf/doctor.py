"""``questdb-sf doctor``: what is wrong with the slots of this host, and what to do about it. Only reads."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from questdb_sf import _side_files, slots

OK = "ok"
WARNING = "warning"
ACTION = "action"

_MIN_FREE_BYTES = 1 << 30  # default of sf_min_free_bytes
_NETWORK = re.compile(r"nfs\d?|cifs|smb\d|smbfs|afs|ceph|lustre|9p|beegfs|glusterfs|gpfs|fuse\..*")
_TEMPORARY = ("tmpfs", "ramfs", "overlay", "overlayfs")
_MINUTES_UNADOPTED = 5
_MARKER = ".questdb-sf"


@dataclass(frozen=True)
class Finding:
    """One thing to know: how grave, about what, what is so, and what to do."""

    level: str
    about: str
    what: str
    todo: str = ""


@dataclass
class Diagnosis:
    """Everything that was found; :attr:`needs_action` decides the exit status."""

    sf_dir: str
    file_system: str
    free_bytes: int
    slots: int
    unacked_frames: int
    findings: list[Finding] = field(default_factory=list)

    @property
    def needs_action(self) -> bool:
        """Whether an operator has to do something."""
        return any(f.level == ACTION for f in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The form that ``questdb-sf doctor --json`` prints."""
        return asdict(self)


def examine(sf_dir: str | os.PathLike[str]) -> Diagnosis:
    """Looks at the directory and every slot in it. Raises ``SlotUnreadable``."""
    root = Path(sf_dir).resolve()
    reports = slots.list_slots(root)
    marked = (root / _MARKER).exists()
    if not marked and not any(r.segments for r in reports):
        raise slots.SlotUnreadable(
            f"{root} is no sf_dir: there is neither {_MARKER} nor a slot with segments in it"
        )
    live = [r for r in reports if not _is_quarantined(r)]
    diagnosis = Diagnosis(
        sf_dir=str(root),
        file_system=file_system(root),
        free_bytes=shutil.disk_usage(root).free,
        slots=len(reports),
        unacked_frames=sum(r.waiting for r in live),
    )
    diagnosis.findings += _directory_findings(root, diagnosis)
    diagnosis.findings += _access_findings(root) if marked else [_not_ours(root)]
    for report in reports:
        diagnosis.findings += _slot_findings(root / report.slot, report)
    diagnosis.findings += _rejected(root)
    return diagnosis


def file_system(path: Path) -> str:
    """Kind of the file system that holds a path, as /proc/mounts says; "unknown" elsewhere."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "unknown"
    above = [m for m in mounts if path.is_relative_to(m[1].encode().decode("unicode_escape"))]
    return max(above, key=lambda m: len(m[1]))[2] if above else "unknown"


def _directory_findings(root: Path, diagnosis: Diagnosis) -> list[Finding]:
    found = []
    about = str(root)
    kind = diagnosis.file_system
    if _NETWORK.fullmatch(kind):
        found.append(
            Finding(
                ACTION,
                about,
                f"it is on a network file system ({kind})",
                "use a local disk for sf_dir",
            )
        )
    elif kind in _TEMPORARY:
        found.append(
            Finding(
                WARNING,
                about,
                f"it is on {kind}, which does not outlive this host or container",
                "use a disk that does for sf_dir",
            )
        )
    if diagnosis.free_bytes < _MIN_FREE_BYTES:
        found.append(
            Finding(
                ACTION,
                about,
                f"{diagnosis.free_bytes >> 20} MiB are free; below sf_min_free_bytes (default 1g) no segment is made",
                "make room, or bring the server back so that slots empty",
            )
        )
    return found


def _access_findings(root: Path) -> list[Finding]:
    if not root.stat().st_mode & stat.S_IROTH:
        return []
    what = "every user of the host can read it, and rows are in it"
    return [Finding(WARNING, str(root), what, f"chmod o= {root}")]


def _not_ours(root: Path) -> Finding:
    return Finding(
        WARNING,
        str(root),
        f"no questdb-sf has used it as sf_dir (it has no {_MARKER}); the slots in it are another program's",
    )


def _slot_findings(slot: Path, report: slots.SlotReport) -> list[Finding]:
    name = report.slot
    waiting = report.waiting
    if report.verdict == slots.UNREADABLE:
        todo = "mend its permissions, or move what does not belong there out of sf_dir"
        return [Finding(ACTION, name, f"cannot be looked at: {report.reason}", todo)]
    if _is_quarantined(report):
        return [
            Finding(
                WARNING,
                name,
                f"is set aside; {waiting} frames in it are sent by nobody",
                f"questdb-sf slots extract {slot} FILE, then delete it",
            )
        ]
    if report.held:
        return [Finding(OK, name, f"is in use by PID {report.pid or '?'}; {waiting} frames wait")]
    if report.newer and (waiting or report.verdict == slots.REFUSED):
        what = f"is of a newer format ({report.newer}) and is not sent; {waiting} frames in it wait"
        todo = f"drain it with the program that wrote it; questdb-sf slots extract {slot} FILE saves its rows"
        return [Finding(ACTION, name, what, todo)]
    if report.verdict == slots.REFUSED:
        todo = f"questdb-sf slots extract {slot} FILE, then questdb-sf slots repair {slot}"
        return [Finding(ACTION, name, f"is refused: {report.reason}", todo)]
    if report.failed is not None:
        return [
            Finding(
                ACTION,
                name,
                f"was given up with {waiting} frames: {report.failed or '(no reason given)'}",
                f"mend the cause, then questdb-sf slots clear-failed {slot}",
            )
        ]
    if not waiting:
        return [*_missing(report), Finding(OK, name, "holds nothing that waits")]
    return [*_missing(report), _waiting(slot, report, waiting)]


def _missing(report: slots.SlotReport) -> list[Finding]:
    todo = (
        "compare the rows in QuestDB with their source: nobody knows whether these frames arrived"
    )
    return [Finding(WARNING, report.slot, str(frames), todo) for frames in report.missing]


def _waiting(slot: Path, report: slots.SlotReport, waiting: int) -> Finding:
    target = _properties(slot / ".target")
    minutes = (time.time() - max(p.stat().st_mtime for p in slot.glob("*.sfa"))) / 60
    what = (
        f"{waiting} frames wait and nobody holds the slot; last written {minutes:.0f} minutes ago"
    )
    drain = f"questdb-sf slots drain {slot} with a connect string in QDB_CLIENT_CONF"
    if not target:
        return Finding(
            ACTION,
            report.slot,
            what + "; it does not say for which server (no .target)",
            f"{drain}, and --any-target",
        )
    what += f"; for {target.get('hosts', '?')} (user {target.get('user', '?')})"
    if error := _side_files.read_text(slot / ".last_error"):
        what += f"; last error: {error}"
    level = ACTION if minutes >= _MINUTES_UNADOPTED else WARNING
    return Finding(
        level,
        report.slot,
        what,
        f"start a query with this sf_dir, sender_id and server on this host, or {drain}",
    )


def _rejected(root: Path) -> list[Finding]:
    kept = sorted((root / ".rejected").glob("*.qwp"))
    if not kept:
        return []
    return [
        Finding(
            WARNING,
            ".rejected",
            f"{len(kept)} frames that the server refused are kept here, the reason beside each",
            f"questdb-sf frame decode $(xxd -p {kept[0]} | tr -d '\\n')",
        )
    ]


def _is_quarantined(report: slots.SlotReport) -> bool:
    return ".unreplayable-" in report.slot


def _properties(path: Path) -> dict[str, str]:
    text = _side_files.read_text(path) or ""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
