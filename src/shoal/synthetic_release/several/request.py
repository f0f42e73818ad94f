"""What a synthesis of several tables is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, SkipValidation

from shoal.assess.synthetic import require_known
from shoal.errors import InputError
from shoal.io import ReaderOptions
from shoal.schema.requests import UseCaseRequest
from shoal.synthetic_release.request import MOST_ROWS, refuse_without_evidence


class RelatedTablesRequest(UseCaseRequest):
    """Tables that belong together. No error and no ``repr`` shows data."""

    model_config = ConfigDict(hide_input_in_errors=True, defer_build=True)

    data: Annotated[Any, SkipValidation] = Field(default=None, repr=False)
    """A folder, a whole database, several files, or tables by name; None where the description names the files."""
    description: Annotated[Any, SkipValidation] = Field(default=None, repr=False)
    """Tables, keys, references: a path, a mapping, or a ``RelatedTablesDescription``; found where nothing is said."""
    rows: int | None = Field(default=None, ge=1, le=MOST_ROWS)
    """Records of the main table, such as patients; as many as the source has if not said."""
    control: Annotated[Any, SkipValidation] = Field(default=None, repr=False)
    """The same tables of people who are not in the data: then the release itself is attacked."""
    require: Mapping[str, float] = Field(default_factory=dict)
    evidence: bool = True
    save_model: bool = False
    seed: int | None = None
    output: Path | None = None
    """The release folder; none gives tables in memory."""
    force: bool = False
    name: str | None = None
    reader: Annotated[ReaderOptions | None, SkipValidation] = None
    """How files are to be read."""

    def refuse_contradictions(self) -> None:
        if self.reader is not None and not isinstance(self.reader, ReaderOptions):
            raise InputError("reader has to say how files are read, as ReaderOptions do")
        refuse_without_evidence(self)
        require_known(self.require)
        if self.data is None and self.description is None:
            raise InputError("name a folder with tables, or several files")
