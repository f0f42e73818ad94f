"""Whether an anatomised release keeps what was asked for, counted from its two files as they were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from shoal.errors import BugError, DataError
from shoal.measurement.risk.anatomy import Anatomy, measure_anatomy
from shoal.policy import Policy
from shoal.policy.checks import anatomised
from shoal.privacy import ModelFinding
from shoal.results.manifest import WrittenFile


def recount_anatomy(policy: Policy, data: pl.LazyFrame, files: Sequence[WrittenFile], records: int) -> Anatomy | None:
    """None where nothing was anatomised. If the files break what was promised, that is our bug and nothing leaves."""
    technique = anatomised(policy)
    if technique is None:
        return None
    file = next(file for file in files if file.beside.file == technique.file)
    names = {"class_name": technique.class_name, "count_name": technique.count_name}
    try:
        found = measure_anatomy(data, file.frame, technique.sensitive, **names)
    except DataError as error:
        raise BugError(f"the anatomised tables don't fit together: {error.message}") from None
    if not found.together.reaches(technique.l) or found.records != records:
        raise BugError("the anatomised tables as written are not as diverse as was asked for")
    return found


def anatomy_finding(policy: Policy, found: Anatomy | None) -> tuple[ModelFinding, ...]:
    """As models are told of: the different values that every class has."""
    technique = anatomised(policy)
    if technique is None or found is None:
        return ()
    met = found.together.reaches(technique.l)
    return (ModelFinding(technique.key, technique.l, found.together.distinct, met),)


def anatomy_warnings(policy: Policy, found: Anatomy | None) -> Iterator[str]:
    """Several attributes are diverse together; one of them may be less so."""
    technique = anatomised(policy)
    if technique is None or found is None:
        return
    for name, alone in found.attributes.items():
        if not alone.reaches(technique.l):
            yield (
                f"anatomise: '{name}' by itself has as few as {alone.distinct} different values in a class, one of "
                f"them on up to {alone.largest_share:.0%} of its records; l = {technique.l} is of the combined values"
            )
