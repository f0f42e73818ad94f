"""Commands in a process that may hold two gigabytes: one for many of them, since a start takes long."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 2 << 30


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str


def called(commands: Sequence[Sequence[str]], folder: Path) -> list[Done]:
    """What each ``shoal …`` did. A command that takes the process with it has no result."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.calls"],
        input=json.dumps([list(command) for command in commands]),
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            "PYTHONPATH": ":".join(filter(None, sys.path)),
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "SHOAL_CACHE": f"{folder}.cache",
        },
        check=False,
    )
    found = [Done(*json.loads(line)) for line in done.stdout.splitlines()]
    assert len(found) == len(commands), f"{commands[len(found)]} took the process with it: {done.stderr[-500:]}"
    assert "panicked" not in done.stderr, "a library broke down in the command's own process"
    return found


def main() -> None:
    from shoal.cli import main as shoal

    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    results = sys.stdout
    for command in json.load(sys.stdin):
        sys.argv = ["shoal", *command]
        out, said, code = io.StringIO(), io.StringIO(), 0
        try:
            with redirect_stdout(out), redirect_stderr(said):
                shoal()
        except SystemExit as ended:
            code = int(ended.code or 0)
        results.write(json.dumps([code, out.getvalue(), said.getvalue()]) + "\n")
        results.flush()


if __name__ == "__main__":
    main()
