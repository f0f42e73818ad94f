"""What the word finders see in sentences and what they leave: the cases stand in ``cases/sentences``, a file a topic.

What is to be found stands between « and ». It is all that is found of these kinds, in this order, unless ``others``
says that more may be; where nothing is marked, nothing may be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from tests.text.finding import found

pytestmark = pytest.mark.requirement("D-03", "X-01")

FOLDER = Path(__file__).parent / "cases" / "sentences"


class Sentence(NamedTuple):
    text: str
    marked: list[str]
    kinds: list[str]
    others: bool


def _sentences() -> Iterator[tuple[str, Sentence]]:
    for path in sorted(FOLDER.glob("*.yaml")):
        for claim, cases in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            for number, marked in enumerate(cases["sentences"]):
                values = re.findall("«(.*?)»", marked, re.DOTALL)
                text = re.sub("[«»]", "", marked)
                yield f"{path.stem}: {claim}, {number}", Sentence(text, values, cases["kinds"], "others" in cases)


SENTENCES = dict(_sentences())


@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES)
def test_what_is_marked_is_found(sentence: Sentence) -> None:
    values = [value for _, value in found(sentence.text, *sentence.kinds)]
    if sentence.others:
        assert [one for one in sentence.marked if one not in values] == []
    else:
        assert values == sentence.marked


def test_a_sentence_that_is_read_otherwise_would_be_noticed() -> None:
    for marked, others in (["Asha"], False), ([], False), (["Rao, who"], True):
        with pytest.raises(AssertionError):
            test_what_is_marked_is_found(Sentence("We saw Dr. Asha Rao, who waved.", marked, ["person"], others))
