"""How much a question has to cost for its figures to be as near as somebody wants them.

>>> WantedAccuracy.parse("±50"), WantedAccuracy.parse("2 %").relative
(WantedAccuracy(size=50.0, relative=False), True)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Self

from shoal.curator.curator import ABSURD, Curator
from shoal.curator.private_answer import QuestionPrice
from shoal.errors import FieldName, FieldText, InputError

_LEAST: Final = Decimal("0.0001")
_FORM: Final = re.compile(r"^\s*(?:±|\+/-|\+-)?\s*([0-9]*\.?[0-9]+)\s*(%?)\s*$")


@dataclass(frozen=True)
class WantedAccuracy:
    """Half of the 95 % interval of every figure, in its own unit or as a share of it."""

    size: float
    relative: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        found = _FORM.match(text)
        if found is None or float(found[1]) <= 0:
            raise InputError("say how near: ±50, or ±2 %", field="accuracy")
        return cls(float(found[1]) / (100 if found[2] else 1), bool(found[2]))


def epsilon_for(curator: Curator, sql: str, wanted: WantedAccuracy, analyst: str | None = None) -> Decimal:
    """The least ε, to four places, at which the noise of every count and sum stays within what is wanted."""
    low, high = 0, int(ABSURD / _LEAST)
    if not _near(curator, sql, high * _LEAST, wanted, analyst):
        raise InputError(
            f"not to be had with an ε of {ABSURD} or less", field="accuracy", advice="ask for fewer figures or groups"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _near(curator, sql, middle * _LEAST, wanted, analyst) else (middle, high)
    return high * _LEAST


def _near(curator: Curator, sql: str, epsilon: Decimal, wanted: WantedAccuracy, analyst: str | None) -> bool:
    price = curator.price(sql, epsilon, analyst=analyst)
    widths = [width for width in price.half_widths.values() if width is not None]
    if not widths:
        raise InputError("can be said of counts and sums alone", field="accuracy", advice="give an ε instead")
    return max(widths) <= wanted.size * (_usual(curator, price) if wanted.relative else 1)


def _usual(curator: Curator, price: QuestionPrice) -> float:
    """About how large a count is: a share can only be taken of something that is public."""
    rows = curator.description.rows
    if rows is None or price.groups is None:
        raise InputError(
            "a share of an unknown number",
            field="accuracy",
            advice=FieldText("describe `rows`, about how many there are, or give ", FieldName("accuracy", "±50")),
        )
    return rows / max(1, price.groups)
