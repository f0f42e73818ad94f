"""What is found in the texts of the project, and in those of the shared data, is what was found when it was recorded.

Work on speed must not change a span, its kind or its score. Who changes what is found on purpose records it anew by
``python -m tests.text.test_recorded_findings``, and reads in the difference of the file which texts it concerns. Of
each text the number of spans is kept, and a hash of them: those of every finder, and those that are left of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from shoal.text.annotator import Annotator
from shoal.text.spans import Span

pytestmark = pytest.mark.requirement("D-03", "X-01")

CASES = Path(__file__).parent / "cases"
RECORD = CASES / "recorded_findings.json"
SHARED = {
    "text_dev": ("btc.jsonl", "meddocan_dev.jsonl", "wikigold.jsonl", "wnut17_dev.jsonl", "log_Linux.jsonl"),
    "tab_dev_113": ("tab_dev_113.jsonl",),
    "presidio_research": ("generated_large.json", "synth_dataset_v2.json"),
}
ANNOTATOR = Annotator.standard("none")
Recorded = dict[str, tuple[int, str]]


def own_texts() -> Iterator[tuple[str, str]]:
    for path in (*sorted((CASES / "sentences").glob("*.yaml")), CASES / "log_lines.txt"):
        yield path.name, path.read_text(encoding="utf-8").replace("«", "").replace("»", "")


def shared_texts(shared: Path) -> Iterator[tuple[str, str]]:
    """Each file as one letter, as it is scrubbed."""
    for folder, names in SHARED.items():
        for name in names:
            text = (shared / "data" / folder / name).read_text(encoding="utf-8")
            read = json.loads(text) if name.endswith(".json") else [json.loads(line) for line in text.splitlines()]
            yield name, "\n".join(one.get("text") or one["full_text"] for one in read)


def findings(annotator: Annotator, text: str) -> list[tuple[object, ...]]:
    each = sorted(span for finder in annotator.finders for span in finder.find(text))
    return [_told(span) for span in (*each, *annotator.annotate(text))]


def _told(span: Span) -> tuple[object, ...]:
    return span.type, span.start, span.end, round(span.score, 9), span.by


def recorded(annotator: Annotator, texts: Iterator[tuple[str, str]]) -> Recorded:
    return {name: _of(findings(annotator, text)) for name, text in texts}


def _of(found: list[tuple[object, ...]]) -> tuple[int, str]:
    return len(found), sha256(repr(found).encode()).hexdigest()[:16]


def _kept(part: str) -> Mapping[str, tuple[int, str]]:
    return {name: tuple(told) for name, told in json.loads(RECORD.read_text(encoding="utf-8"))[part].items()}


def test_own_texts_hold_what_was_recorded():
    assert recorded(ANNOTATOR, own_texts()) == _kept("own")


@pytest.mark.slow
def test_shared_texts_hold_what_was_recorded(shared):
    assert recorded(ANNOTATOR, shared_texts(shared)) == _kept("shared")


def test_one_span_less_or_moved_or_less_sure_is_noticed():
    _, text = next(own_texts())
    found = findings(ANNOTATOR, text)
    kind, start, end, score, by = found[0]
    others = (
        found[1:],
        [(kind, start, end - 1, score, by), *found[1:]],
        [(kind, start, end, float(str(score)) - 0.01, by), *found[1:]],
    )
    assert all(_of(one) != _of(found) for one in others)


@pytest.mark.parametrize("left_out", [0, 1])
def test_every_text_is_recorded_with_what_a_finder_finds(left_out):
    """A record is one of findings: without the patterns, or without the lists, it is another."""
    others = Annotator([finder for place, finder in enumerate(ANNOTATOR.finders) if place != left_out])
    different = [name for name, told in recorded(others, own_texts()).items() if told != _kept("own")[name]]
    assert len(different) > len(_kept("own")) / 2


def _write() -> None:
    shared = Path(os.environ.get("SHOAL_SHARED", Path(__file__).parents[3] / "shared"))
    parts = {"own": recorded(ANNOTATOR, own_texts()), "shared": recorded(ANNOTATOR, shared_texts(shared))}
    lines = {
        part: ",\n".join(f"  {json.dumps(name)}: {json.dumps(told)}" for name, told in of.items())
        for part, of in parts.items()
    }
    RECORD.write_text(
        "{" + ",".join(f'\n "{part}": {{\n{of}\n }}' for part, of in lines.items()) + "\n}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    _write()
