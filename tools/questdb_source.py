"""Takes what QuestDB's server is built from out of a git repository: ``REPOSITORY COMMIT DIRECTORY``.

``git archive`` would do it, but refuses where any file is missing, as in a clone without the large ones.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PARTS = (
    *(f"core/src/main/{part}/" for part in ("assembly", "bin", "java", "resources")),
    *("core/conf/", "core/rust/", "java-questdb-client/", "utils/"),
)
LINK, PROGRAM, SUBMODULE = "120000", "100755", "160000"


def needed(path: str) -> bool:
    """Whether the build takes this file: one of the server's parts, or beside the POM of it or of all."""
    return path.startswith(PARTS) or path.rpartition("/")[0] in ("", "core")


def main(repository: str, commit: str, directory: str) -> None:
    """Writes the files, and names those that the repository does not have."""
    git = ["git", "-C", repository]
    tree = subprocess.run([*git, "ls-tree", "-rz", commit], capture_output=True, check=True).stdout
    missing = []
    with subprocess.Popen(
        [*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        for entry in tree.decode().split("\0")[:-1]:
            what, path = entry.split("\t", 1)
            mode, _, name = what.split()
            if mode == SUBMODULE:
                if needed(f"{path}/"):
                    sys.exit(
                        f"error: {path} is a submodule of {repository}: its files are not there"
                    )
                continue
            if not needed(path):
                continue
            reader.stdin.write(f"{name}\n".encode())
            reader.stdin.flush()
            header = reader.stdout.readline().split()
            if header[1] == b"missing":
                missing.append(path)
                continue
            content = reader.stdout.read(int(header[2]))
            reader.stdout.read(1)
            write(Path(directory) / path, mode, content)
        reader.stdin.close()
    if missing:
        print(f"not in {repository}: {', '.join(missing)}", file=sys.stderr)


def write(path: Path, mode: str, content: bytes) -> None:
    """One file, or link."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == LINK:
        path.symlink_to(content.decode())
        return
    path.write_bytes(content)
    if mode == PROGRAM:
        path.chmod(0o755)


if __name__ == "__main__":
    main(*sys.argv[1:])
