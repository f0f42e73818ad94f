"""``history.json``: what later looks at a release found, the oldest first. No value of either table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import ConfigDict, TypeAdapter

from shoal.errors import SourceError
from shoal.io.json_files import read_json
from shoal.results.base import Moment, ResultModel
from shoal.results.record_counts import CountBasis

HISTORY: Final = "history.json"


class ReassessmentResult(ResultModel):
    """New outside data linked with a release: how many people each person could be.

    An entry is kept as it was written when another is added, also what a newer version put into it.
    """

    model_config = ConfigDict(extra="allow")

    when: Moment
    attributes: tuple[str, ...]
    """By which the auxiliary table was linked, of all that were tried the worst."""
    people: int
    fitting: int
    """People of the auxiliary table who fit any record."""
    alone: int = 0
    """People who could be only one; where people can't be told apart, that it can't be ruled out of."""
    fewest: int
    """People that a fitting person could be, at least; 0 where nobody fits."""
    k: int
    """What the release promised."""
    below: int
    """People who are surely among fewer than that."""
    auxiliary_sha256: str | None = None
    unread_labels: int = 0
    """Released labels that could not be read, and were taken to fit everybody."""
    perhaps_below: int = 0
    """Further people of whom that can't be ruled out, because some of the records may be one person's."""
    counted: CountBasis = CountBasis.PEOPLE
    unknown: int = 0
    """People with a value that a hierarchy doesn't know, who fit a ``*`` there and nothing else."""
    altered: tuple[str, ...] | None = ()
    """Columns that nobody was linked by, because they were altered; None where the release doesn't say which were."""
    holds: bool | None
    """Whether the promise holds; None where it is neither shown nor refuted."""


History = tuple[ReassessmentResult, ...]
_HISTORY: TypeAdapter[History] = TypeAdapter(History)


def load_history(folder: Path) -> History:
    """What was found before; nothing where nobody has looked yet."""
    path = folder / HISTORY
    if not path.is_file():
        return ()
    try:
        return _HISTORY.validate_python(read_json(path))
    except (ValueError, OSError):
        raise SourceError(f"{path}: is not the history of a release") from None


def history_text(entries: Sequence[ReassessmentResult]) -> str:
    told = [entry.model_dump(mode="json", by_alias=True, exclude_unset=True) for entry in entries]
    return json.dumps(told, indent=2, sort_keys=True) + "\n"
