"""What is done about released columns that tell what was generalised in others."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shoal.schema.column_names import ColumnNames
from shoal.schema.parameters import Parameters


class AcceptedDisclosure(Parameters):
    """A dependency that stays, and why."""

    columns: ColumnNames = Field(description="The columns that tell; none for the order of the records.")
    tells: str = Field(description="The quasi-identifier that they tell.")
    because: str = Field(min_length=8, description="Why that is acceptable; the report shows it.")


class ReadBackRules(Parameters):
    """When released columns count as telling a quasi-identifier, and what then."""

    records: int = Field(
        default=10, ge=2, description="A value, or a pair, tells something if it stands in at least so many records …"
    )
    share: float = Field(
        default=0.95, gt=0.5, le=1, description="… of which at least this share goes with one value of the other."
    )
    found: Literal["stop", "suppress"] = Field(
        default="stop",
        description="Where k falls below what the models demand. stop: nothing is released; suppress: the cells that "
        "tell are suppressed in the classes that they split.",
    )
    accept: tuple[AcceptedDisclosure, ...] = Field(
        default=(), description="Dependencies that stay, each with a reason."
    )
