"""Scrubbing with the recognisers that Shoal comes with, on sentences made by others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.scrub.choices import known_types
from shoal.scrub.scrubber import Scrubber, standard_annotator

pytestmark = pytest.mark.requirement("X-01", "X-02")

EVERY = 15


@pytest.fixture(scope="module")
def sentences(shared: Path) -> list[str]:
    entries = json.loads((shared / "data/presidio_research/synth_dataset_v2.json").read_text(encoding="utf-8"))
    return [entry["full_text"] for entry in entries[::EVERY]]


@pytest.mark.parametrize("replace", ["label", "mask", "pseudonym"])
def test_a_second_time_changes_nothing_and_nothing_is_left_to_find(replace, sentences):
    annotator = standard_annotator()
    worker = Scrubber(annotator, replace, RunSecrets(Randomness(1)))
    found = 0
    for sentence in sentences:
        done = worker.scrub(sentence)
        found += len(done.actions)
        assert worker.scrub(done.text).text == done.text
        assert replace != "mask" or len(done.text) == len(sentence)
        rest = list(done.text)
        for action in done.actions:
            rest[action.new_start : action.new_end] = "_" * (action.new_end - action.new_start)
            assert action.type in known_types()
        for span in annotator.annotate(done.text):
            assert not any(letter.isalnum() for letter in "".join(rest[span.start : span.end]))
    assert found > len(sentences)
