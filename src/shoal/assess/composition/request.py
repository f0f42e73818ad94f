"""What is asked when releases are looked at together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, SkipValidation

from shoal.io import ReaderOptions
from shoal.policy import Policy
from shoal.schema.requests import UseCaseRequest


class HeldRelease(UseCaseRequest):
    """A release that is out, or is to go out."""

    name: str
    folder: Path | None = None
    """None of an answer, which has no records."""
    sha256: str = ""
    """Of its data when it was entered; another one is refused."""
    kind: str = "records"
    epsilon: float | None = None
    recipients: tuple[str, ...] = ()
    original: str = ""
    """The table that it was made from, where that is not the one for all."""
    person: str = ""
    """The column of it that names people, where that is not the one for all."""


class ComposeRequest(UseCaseRequest):
    release: HeldRelease
    earlier: tuple[HeldRelease, ...] = ()
    k: int = Field(default=2, ge=2)
    """How many people have to fit."""
    original: str = ""
    """A table of the people with their values, of which all releases were made."""
    person: str = ""
    """The column of the originals that names people; of the releases themselves, it is found."""
    reader: ReaderOptions | None = None
    """How the original's file is to be read."""
    policies: Annotated[tuple[Policy, ...], SkipValidation] = ()
    """Their hierarchies say what released words stand for."""
