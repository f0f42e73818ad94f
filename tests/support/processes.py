"""What the kernel tells of processes."""

from __future__ import annotations

from pathlib import Path


def processes(named: str = "") -> list[int]:
    """Those with this in their command line."""
    found = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in found if named in _read(pid, "cmdline")]


def family(pid: int) -> list[int]:
    """The process and what descends from it."""
    parents = {each: parent_of(each) for each in processes()}
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def parent_of(pid: int) -> int:
    """0 where the process has ended."""
    told = stat_fields(pid)
    return int(told[1]) if told else 0


def stat_fields(pid: int) -> list[str]:
    """What ``stat`` says behind the name of the program; nothing where the process has ended."""
    return _read(pid, "stat").rpartition(")")[2].split()


def _read(pid: int, what: str) -> str:
    try:
        return Path(f"/proc/{pid}/{what}").read_text(errors="replace")
    except OSError:
        return ""
