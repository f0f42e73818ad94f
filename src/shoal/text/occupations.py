"""Occupations beyond the list: a line of its own that ends like one, as under a name on a card or in a signature."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.text.spans import Span

BY = "occupations"
ON_A_CARD = 0.6
_LINE = re.compile(
    r"(?m)^[ ?•*-]{0,4}((?:[A-Za-z][A-Za-z'’-]*,? (?:and |of |/ )?){0,5}[A-Za-z]*(?i:[a-z]ist"
    r"|[a-z]ian|grapher|logist|keeper|worker|maker|driver"
    r"|manager|specialist|director|officer|engineer|assistant|attendant|consultant|administrator|clerk|nurse|teacher"
    r"|designer|developer|analyst|advisor|adviser|installer|operator|technician|cleaner|inspector|controller|supervisor"
    r"|coordinator|representative|agent|planner|programmer|repairer|instructor|counselor|counsellor|therapist|writer"
    r"|editor|surgeon|physician|lawyer|distributor|trainer|helper|laborer|labourer|mechanic|packer|packager|setter"
    r"|tender|handler|inspector|examiner|appraiser|buyer|broker|aide|guard|chef|cook|foreman|superintendent|secretary"
    r"|president|executive|architect|scientist|professor|lecturer|fitter|welder|assembler"
    r"|interpreter|translator))[ .,]*$"
)


def occupations(text: str) -> Iterator[Span]:
    if "\n" in text:
        for match in _LINE.finditer(text):
            yield Span(match.start(1), match.end(1), "occupation", ON_A_CARD, BY)
