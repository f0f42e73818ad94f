"""Where a dataset's budget is, and that it is still the one that was there before.

A budget that was lost, or put back from an old copy, must not pass for an unspent one. So a mark beside the description
notes which budget it was and how many entries it had. Whoever deletes both has begun a new budget on purpose. Where the
description is in no file, the mark stands beside the ledger's file; with a server, whose database is kept, none does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.curator.budget_ledger import BudgetHead, BudgetLedger
from shoal.dp.description import DatasetDescription
from shoal.errors import FieldName, FieldText, IntegrityError, SourceError, TargetError
from shoal.io import write_atomic

_ANEW = FieldText("put it back, or begin another on purpose: ", FieldName("anew", of="dp begin"))


@dataclass(frozen=True)
class BudgetPlace:
    place: str
    dataset: str
    mark: Path | None

    @classmethod
    def of(cls, description: DatasetDescription) -> BudgetPlace:
        """Beside the description, unless that says otherwise."""
        place = description.ledger or f"{description.name}.budget"
        where = place if "://" in place else str(description.folder / place)
        return cls(where, description.name, _mark(description, where))

    def ledger(self) -> BudgetLedger:
        """Whether or not it is there."""
        return BudgetLedger(self.place, self.dataset)

    def begin(self, ledger: BudgetLedger, terms: Mapping[str, Any], *, anew: bool = False, moved: bool = False) -> bool:
        """Whether it was there: it is made where there is none and never was one, ``anew`` where that one is lost."""
        with ledger.holding():
            lost = self._lost(ledger) if anew else None
            there = ledger.exists() if anew else self._known(ledger)
            written = ledger.begun(terms, made=there, moved=moved)
            if lost is not None:
                ledger.note_lost(lost)
            if written or anew or self._noted() is None:  # else what the mark says still holds
                self.note(ledger)
        return there

    def opened(self) -> BudgetLedger:
        """One that is there."""
        self.known()
        return BudgetLedger.open(self.place, self.dataset)

    def known(self) -> bool:
        """Whether a budget was begun; an error where it is not the one that the mark is of."""
        with self.ledger() as ledger, ledger.holding():
            return self._known(ledger)

    def _known(self, ledger: BudgetLedger) -> bool:
        noted = self._noted()  # first: a ledger is older than its mark, and only grows
        if not ledger.exists():
            if noted is not None:
                raise SourceError(f"{ledger.label}: the budget is gone, and had {noted.entries} entries", advice=_ANEW)
            return False
        if noted is None:
            return True
        found = ledger.state()
        if found.identity != noted.identity:
            raise IntegrityError(f"{ledger.label}: is another budget than was asked from before", advice=_ANEW)
        if found.entries < noted.entries:
            raise IntegrityError(
                f"{ledger.label}: has {found.entries} entries, and had {noted.entries} before", advice=_ANEW
            )
        return True

    def note(self, ledger: BudgetLedger) -> None:
        """After something was written. A folder that can't be written to has no mark."""
        if self.mark is None:
            return
        state = ledger.state()
        with suppress(IntegrityError):
            if self._noted() == state:
                return
        with suppress(TargetError, OSError):
            write_atomic(self.mark, json.dumps({"budget": state.identity, "entries": state.entries}) + "\n")

    def _lost(self, ledger: BudgetLedger) -> BudgetHead | None:
        """What the mark is of, where the ledger is not that any more. Of a mark that can't be read, nothing is."""
        try:
            noted = self._noted()
        except IntegrityError:
            return BudgetHead("unknown", 0)
        if noted is None or not ledger.exists():
            return noted
        found = ledger.state()
        return None if found.identity == noted.identity and found.entries >= noted.entries else noted

    def _noted(self) -> BudgetHead | None:
        if self.mark is None:
            return None
        try:
            told = json.loads(self.mark.read_text(encoding="utf-8"))
            return BudgetHead(str(told["budget"]), int(told["entries"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            raise IntegrityError(f"{self.mark}: the mark of the budget can't be read", advice=_ANEW) from None


def _mark(description: DatasetDescription, place: str) -> Path | None:
    name = f"{description.name}.budget-mark"
    if description.is_file:
        return description.folder / name
    return None if "://" in place else Path(place).parent / name
