"""The way of a command through the code, seen by running it: which modules of the use cases work, and in what chains.

A *hop* is a module of a use case (``release``, ``assess``, ``scan``) that has to be read to follow the command. A chain
of calls *zigzags* if it comes back to one of these modules after it had left it for another. What lies below (the
means) is called, not followed; what lies above (the doors) only parses and prints.

``python scripts/ways.py run`` traces one command in this process and prints what it found as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

USE_CASES = ("release", "assess", "scan")
PEOPLE = 300
WAYS = {
    "run": ("run", "hospital.yaml", "--output", "release", "--seed", "1"),
    "measure": ("measure", "hospital.csv", "--qi", "age,sex,city", "--by-records"),
    "measure a release": ("measure", "release", "--policy", "hospital.yaml", "--original", "hospital.csv"),
}
"""By name, a command and its arguments; the last one is traced for what it parses."""
PARSERS = {"policy": ("shoal.policy.yaml_tree", "read_tree"), "manifest": ("shoal.results.manifest", "read_manifest")}
"""What is parsed, by the function that every way to parse it goes through."""
COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")


@dataclass(frozen=True)
class Way:
    modules: tuple[str, ...]
    """Of the use cases, in the order of their first call."""
    rooms: tuple[str, ...]
    """All rooms, in the order of their first call."""
    zigzags: tuple[tuple[str, ...], ...]
    parsed: dict[str, int]

    @property
    def hops(self) -> int:
        return len(self.modules)


class Tracer:
    """A profile function that keeps the chains of calls between modules of the use cases."""

    def __init__(self) -> None:
        self.chains: dict[tuple[str, ...], None] = {}
        self.rooms: dict[str, None] = {}
        self.parsed: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        module = _module(frame)
        if event != "call" or not module.startswith("shoal.") or frame.f_code.co_name in COMPREHENSIONS:
            return
        for what, (home, name) in PARSERS.items():
            self.parsed[what] += (module, frame.f_code.co_name) == (home, name)
        chain = _chain(frame)
        if chain is not None:
            self.rooms[module.split(".")[1]] = None
            if _is_use_case(module):
                self.chains[chain] = None

    def way(self) -> Way:
        modules = dict.fromkeys(module for chain in self.chains for module in chain)
        zigzags = tuple(sorted(chain for chain in self.chains if len(set(chain)) < len(chain)))
        return Way(tuple(modules), tuple(self.rooms), zigzags, dict(self.parsed))


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _is_use_case(module: str) -> bool:
    return module.startswith("shoal.") and module.split(".")[1] in USE_CASES


def _chain(frame: FrameType) -> tuple[str, ...] | None:
    """The modules of the use cases on the stack, the outermost first; None while a module is being imported."""
    chain: list[str] = []
    at: FrameType | None = frame
    while at is not None:
        module = _module(at)
        if module.startswith("shoal.") and at.f_code.co_name == "<module>":
            return None
        if _is_use_case(module) and chain[-1:] != [module]:
            chain.append(module)
        at = at.f_back
    return tuple(reversed(chain))


@cache
def ways() -> dict[str, Way]:
    """Each command in a process of its own, one after the other in a folder with the bundled example."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in WAYS:
            command = [sys.executable, str(Path(__file__).resolve()), name]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode:
                raise RuntimeError(f"{name}: {done.stderr}")
            told = json.loads(done.stdout.splitlines()[-1])
            zigzags = tuple(tuple(chain) for chain in told["zigzags"])
            found[name] = Way(tuple(told["modules"]), tuple(told["rooms"]), zigzags, told["parsed"])
    return found


def trace(name: str) -> Way:
    from shoal.cli import main
    from shoal.examples import hospital

    if not Path("hospital.csv").exists():
        hospital.write("hospital.csv", PEOPLE)
        Path("hospital.yaml").write_text(hospital.policy(), encoding="utf-8")
    tracer, sys.argv = Tracer(), ["shoal", *WAYS[name]]
    sys.setprofile(tracer)
    try:
        main()
    except SystemExit as end:
        if end.code not in {None, 0, 1}:
            raise
    finally:
        sys.setprofile(None)
    return tracer.way()


if __name__ == "__main__":
    seen = trace(sys.argv[1])
    print(json.dumps({"modules": seen.modules, "rooms": seen.rooms, "zigzags": seen.zigzags, "parsed": seen.parsed}))  # noqa: T201
