"""What is asked when an old release is looked at again."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from pathlib import Path

from pydantic import Field

from shoal.errors import FieldName, FieldText, InputError
from shoal.io import ReaderOptions
from shoal.policy import Policy
from shoal.schema.requests import UseCaseRequest


class ReassessRequest(UseCaseRequest):
    auxiliary: str
    """Where the new outside data lies."""
    reader: ReaderOptions | None = None
    """How its file is to be read."""
    policy: Policy | None = None
    """Its hierarchies say what labels stand for."""
    require: dict[str, float] = Field(default_factory=dict)
    """The least k, the most people who fit one record only (``uniques``); without them, the k that was promised."""

    @classmethod
    def parse(
        cls,
        auxiliary: str,
        *,
        require: Sequence[str] = (),
        policy: Path | None = None,
        reader: ReaderOptions | None = None,
    ) -> ReassessRequest:
        """From text: ``k=5``, ``uniques=0``."""
        bounds = dict(_bound(text) for text in require)
        return cls(
            auxiliary=auxiliary, require=bounds, policy=None if policy is None else Policy.load(policy), reader=reader
        )


def _bound(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    if name not in ("k", "uniques"):
        raise InputError(
            FieldText("with ", FieldName("auxiliary"), f" only k and uniques can be required, not '{name}'"),
            field="require",
        )
    try:
        bound = float(number)
    except ValueError:
        bound = nan
    if not 0 <= bound < inf:
        raise InputError(f"'{name}' needs a number, as in {name}=5", field="require")
    return name, bound
