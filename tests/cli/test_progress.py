"""The line that says how far a command is: on a terminal, and nowhere else."""

from __future__ import annotations

import errno
import inspect
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from shoal.cli.commands.measure import measure
from shoal.cli.terminal.progress_view import ProgressView
from shoal.errors import Cancelled
from shoal.io import open_source, parse_source
from shoal.io.row_estimates import estimated_rows
from shoal.schema.packed_counts import count_combinations
from shoal.schema.progress import Advanced, Monitor, PhaseStarted

SLOW = """
import sys
from shoal.cli.terminal import progress_view
progress_view.DELAY = 0.0
sys.argv[1:] = {arguments!r}
from shoal.cli import main
main()
"""
COMMANDS = {
    "measure": (["measure", "people.csv", "--qi", "age,city"], "(count|assess)"),
    "profile": (["profile", "people.csv"], "columns"),
    "suggest": (["suggest", "people.csv", "-o", "made.yaml"], "columns"),
    "scan": (["scan", "people.csv"], "scan"),
    "scan of a text": (["scan", "long.log"], "scan, 1 of 1  .*of 132 kB"),
    "scrub": (["scrub", "letter.txt", "-o", "clean.txt"], "scrub"),
    "scrub of a long text": (["scrub", "long.log", "-o", "clean.log"], "scrub  .*of 132 kB"),
    "attack": (["attack", "people.csv", "--original", "people.csv", "--qi", "age,city"], "attack"),
    "run": (["run", "policy.yaml", "--output", "out"], "(count|solve|report|evidence)"),
    "plan": (["plan", "policy.yaml"], "plan"),
    "check": (["check", "policy.yaml"], "check"),
    "hierarchy": (["hierarchy", "suggest", "people.csv", "age"], "read"),
    "normalise": (
        ["normalise", "people.csv", "--person", "city", "--view", "combined", "-o", "one.csv"],
        "(read|write)",
    ),
}
SILENT = {"examples", "recognisers", "dp", "register", "due", "vault", "studio", "serve", "stream", "live"}
"""Commands that end at once, or never, and those that speak for themselves as they go."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = range(3000)
    table = {"age": [20 + row % 50 for row in rows], "city": [f"town {row % 7}" for row in rows]}
    pl.DataFrame(table).write_csv(tmp_path / "people.csv")
    (tmp_path / "letter.txt").write_text("Dear Asha Rao, call 98450 12345.\n" * 50)
    (tmp_path / "long.log").write_text("Dear Asha Rao, call 98450 12345.\n" * 4_000)
    (tmp_path / "policy.yaml").write_text(
        "shoal: 1\nname: one\nsource: people.csv\nattributes:\n"
        "  age: {role: quasi, hierarchy: {intervals: [10]}}\n  city: {role: quasi}\nprivacy: [{k_anonymity: {k: 3}}]\n"
    )
    return tmp_path


def on_terminal(folder: Path, arguments: list[str]) -> str:
    """What a terminal shows of stderr."""
    leader, follower = pty.openpty()
    program = [sys.executable, "-c", SLOW.format(arguments=arguments)]
    with subprocess.Popen(program, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower):
        os.close(follower)
        shown = b""
        try:
            while part := os.read(leader, 65536):
                shown += part
        except OSError as error:
            if error.errno != errno.EIO:
                raise
    os.close(leader)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_long_command_says_what_it_does(command: str, folder: Path) -> None:
    arguments, phase = COMMANDS[command]
    assert re.search(rf"{phase}(  |, ).*\d", on_terminal(folder, arguments)), command


def _shows_progress(source: str) -> bool:
    """Whether a command's module asks for the line."""
    return re.search(r"\b(progress|working)\(", source) is not None


def test_every_command_that_reads_data_asks_for_the_line() -> None:
    commands = Path(inspect.getfile(measure)).parent
    assert not _shows_progress("with explained(source):\n    found = choose_hierarchy(source.scan(), column)\n")
    without = {
        file.stem
        for file in commands.rglob("*.py")
        if file.stem != "__init__" and not _shows_progress(file.read_text(encoding="utf-8"))
    }
    assert without == SILENT


def test_a_measurement_says_its_phases_on_a_terminal_but_not_with_json_nor_quiet(folder: Path) -> None:
    arguments = COMMANDS["measure"][0]
    assert re.search("(count|assess)  ", on_terminal(folder, arguments))
    assert on_terminal(folder, [*arguments, "--json"]) == ""
    assert on_terminal(folder, [*arguments, "--quiet"]) == ""


def test_nothing_is_shown_in_a_pipe(folder: Path) -> None:
    program = [sys.executable, "-c", SLOW.format(arguments=COMMANDS["profile"][0])]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def view_at(*moments: float) -> ProgressView:
    clock = iter(moments)
    return ProgressView(clock=lambda: next(clock))


def test_a_pass_says_its_rate_and_the_time_left() -> None:
    view = view_at(0.0, 2.0)
    view(PhaseStarted("count", 600_000))
    view(Advanced("count", 400_000, 600_000))
    assert view.line() == "count  ━━━━━━━━━━━━━━━━────────  400,000 of 600,000, 200,000/s, 1 s left"


def test_what_is_known_of_a_table_is_said_before_it_is_read() -> None:
    view = view_at(0.0, 75.0)
    assert view.line() == ""
    view(PhaseStarted("read", 5_000_000))
    assert view.line() == "read  5,000,000 records, 1:15 min"


def test_a_second_pass_begins_anew() -> None:
    view = view_at(0.0, 10.0, 12.0)
    view(PhaseStarted("count", 600))
    view(Advanced("count", 600, 600))
    view(Advanced("count", 300, 600))
    assert view.line() == "count  ━━━━━━━━━━━━────────────  300 of 600, 150/s, 2 s left"


def test_without_a_total_or_beyond_an_estimate_there_is_a_rate_and_no_question_mark() -> None:
    for total in (None, 4_000_000):
        view = view_at(0.0, 10.0)
        view(Advanced("scrub", 5_000_000, total))
        assert view.line() == "scrub  5,000,000, 500,000/s, 10 s"


def test_a_text_is_told_in_bytes() -> None:
    view = view_at(0.0, 4.0)
    view(Advanced("scrub", 2_000_000, 50_000_000, "bytes"))
    assert view.line() == "scrub  ────────────────────────  2.0 MB of 50.0 MB, 500 kB/s, 1:36 min left"


def test_a_task_goes_on_where_another_came_between() -> None:
    view = view_at(0.0, 50.0, 60.0, 100.0)
    view(Advanced("scan", 1, 10))
    view(Advanced("scan, 2 of 10", 1_000_000, 2_000_000, "bytes"))
    view(Advanced("scan", 2, 10))
    assert view.line() == "scan  ━━━━────────────────────  2 of 10, 50 s each, 6:40 min left"


def test_slow_steps_say_how_long_each_takes() -> None:
    view = view_at(0.0, 60.0)
    view(Advanced("attack", 4, 10))
    assert view.line() == "attack  ━━━━━━━━━───────────────  4 of 10, 15 s each, 1:30 min left"


def test_rows_are_known_before_a_file_is_read(folder: Path) -> None:
    table = pl.read_csv(folder / "people.csv")
    table.write_parquet(folder / "people.parquet")
    pl.concat([table] * 60).write_csv(folder / "many.csv")
    few, exact, many = (
        estimated_rows(open_source(parse_source(str(folder / name))))
        for name in ("people.csv", "people.parquet", "many.csv")
    )
    assert few == 3000
    assert exact == 3000
    assert many == pytest.approx(180_000, rel=0.02)


def test_a_cancelled_count_stops_between_two_batches(folder: Path) -> None:
    heard: list[object] = []
    monitor = Monitor(heard.append)
    frame = pl.scan_csv(folder / "people.csv")
    with pytest.raises(Cancelled), monitor.phase("count", 3000):
        monitor.cancel.cancel()
        count_combinations(frame, ("age", "city"))
    with Monitor(heard.append).phase("count", 3000):
        count_combinations(frame, ("age", "city"))
    assert Advanced("count", 3000, 3000) in heard


def test_a_run_knows_how_many_records_it_will_write(folder: Path) -> None:
    from shoal.policy import Policy
    from shoal.release.request import RunRequest
    from shoal.release.run import Run

    heard: list[object] = []
    request = RunRequest(policy=Policy.load(folder / "policy.yaml"), output=folder / "out")
    Run(request, Monitor(heard.append)).execute()
    written = [event for event in heard if isinstance(event, Advanced) and event.task == "rewrite"]
    assert written[-1] == Advanced("rewrite", 3000, 3000)
    assert PhaseStarted("count", 3000) in heard


BUSY = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import {module} as work
def busy(*given, **more):
    print("busy", flush=True)
    time.sleep(600)
work.{function} = busy
sys.argv[1:] = {arguments!r}
from shoal.cli import main
main()
"""


@pytest.mark.requirement("T-02")
@pytest.mark.parametrize(
    ("module", "function", "command"),
    [
        ("shoal.assess.measure.table_measurement", "count_table", "measure"),
        ("shoal.discover.table_profile", "detect", "suggest"),
    ],
)
def test_ctrl_c_ends_what_only_reads(module: str, function: str, command: str, folder: Path) -> None:
    program = BUSY.format(module=module, function=function, arguments=COMMANDS[command][0])
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "busy\n"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in said
    assert not (folder / "made.yaml").exists()
