"""The description of a periodic report (``report.yaml``): one figure by area and period, from one budget."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from shoal.dp.description import BudgetPeriod, DescribedFile, Exact


class ReportDescription(DescribedFile):
    """What is published, how often, and what all of it together may cost."""

    shoal: Literal[1]
    name: str = Field(pattern=r"^[\w][\w .-]{0,99}$")
    dataset: str = Field(description="The description of the dataset, relative to this file.")
    figure: str = Field(description="COUNT(*), COUNT(DISTINCT person) or SUM(x), as in a question.")
    by: tuple[str, ...] = Field(default=(), description="Areas or other groups whose values are public.")
    where: str | None = Field(default=None, description="Which rows count, as in a question.")
    every: BudgetPeriod
    time: str = Field(description="The column of dates; its bounds say from when to when there will be reports.")
    epsilon: Exact = Field(gt=0, description="For all periods together.")

    @property
    def dataset_path(self) -> Path:
        return self.folder / self.dataset
