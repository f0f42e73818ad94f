"""Run all benchmarks and print one table: ``python -m benchmarks [--rows 6000000] [--only rewrite]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import (
    composing,
    counting,
    fuzzing,
    generating,
    governing,
    measuring,
    memory,
    microaggregating,
    private_answers,
    profiling,
    pseudonymising,
    reading_back,
    recognising,
    reporting,
    rewriting,
    scanning,
    scrubbing,
    scrubbing_prose,
    serving,
    solving,
    sparking,
    starting,
    streaming,
    suda,
    synthesising,
    vaulting,
    whole_commands,
)
from benchmarks.result import Result, print_results

SUITES = {
    "start": starting.run,
    "count": counting.run,
    "rewrite": rewriting.run,
    "memory": memory.run,
    "whole": whole_commands.run,
    "readback": reading_back.run,
    "solve": solving.run,
    "measure": measuring.run,
    "stream": streaming.run,
    "suda": suda.run,
    "microaggregate": microaggregating.run,
    "pseudonymise": pseudonymising.run,
    "vault": vaulting.run,
    "composition": composing.run,
    "registry": governing.run,
    "private": private_answers.run,
    "generate": generating.run,
    "synth": synthesising.run,
    "profile": profiling.run,
    "report": reporting.run,
    "recognise": recognising.run,
    "scan": scanning.run,
    "scrub": scrubbing.run,
    "prose": scrubbing_prose.run,
    "spark": sparking.run,
    "fuzz": fuzzing.run,
    "serve": serving.run,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--rows", type=int, default=6_000_000)
    parser.add_argument("--only", choices=sorted(SUITES), action="append")
    parser.add_argument("--folder", type=Path, default=Path("bench-data"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    results: list[Result] = []
    for name, suite in SUITES.items():
        if not arguments.only or name in arguments.only:
            print(f"… {name}", file=sys.stderr, flush=True)
            results += suite(arguments.folder, arguments.rows)
    print_results(results)
    return 0 if all(result.holds for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
