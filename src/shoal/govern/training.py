"""Training: eight topics as pages, each with a quiz that is marked (MeitY 3.5.2; G-07)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import yaml
from pydantic import Field

from shoal.errors import InputError
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean


class QuizQuestion(Parameters):
    asks: str
    options: tuple[str, ...] = Field(min_length=2)
    right: int = Field(ge=1)
    """The number of the right option."""
    because: str


class TrainingTopic(Parameters):
    title: str
    page: tuple[str, ...] = Field(min_length=1)
    """Paragraphs."""
    questions: tuple[QuizQuestion, ...] = Field(min_length=3)

    def marks(self, answers: Sequence[int]) -> int:
        """Of a hundred."""
        if len(answers) != len(self.questions):
            raise InputError(f"there are {len(self.questions)} questions, and {len(answers)} answers", field="answers")
        for question, chosen in zip(self.questions, answers, strict=True):
            if not 1 <= chosen <= len(question.options):
                raise InputError(f"an answer is a number from 1 to {len(question.options)}", field="answers")
        right = sum(chosen == one.right for one, chosen in zip(self.questions, answers, strict=True))
        return round(100 * right / len(self.questions))


@cache
def training_topics() -> Mapping[str, TrainingTopic]:
    text = files("shoal.govern").joinpath("training.yaml").read_text(encoding="utf-8")
    return {name: TrainingTopic.model_validate(told) for name, told in yaml.safe_load(text)["topics"].items()}


def training_topic(name: str) -> TrainingTopic:
    known = training_topics()
    if name not in known:
        raise InputError(f"there is no topic '{name}'{did_you_mean(name, tuple(known))}", field="topic")
    return known[name]
