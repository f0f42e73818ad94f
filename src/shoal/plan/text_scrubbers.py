"""Scrubbers of free text for techniques, which know that there are such things and not how they work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.pseudonyms import Secrets
from shoal.techniques.base import ScrubRequest

if TYPE_CHECKING:
    from shoal.scrub.scrubber import Scrubber


@dataclass(frozen=True)
class ScrubberFactory:
    """Makes the scrubber that a technique asks for, with the secrets of the run."""

    secrets: Secrets
    recognisers: tuple[Path, ...] = ()
    """Files of recognisers that are used beside the installed ones."""

    def __call__(self, request: ScrubRequest) -> BoundScrubber:
        from shoal.scrub.choices import refuse_unknown_types
        from shoal.scrub.own_recognisers import recognisers_with
        from shoal.scrub.phrase_list import PhraseLists
        from shoal.scrub.scrubber import Scrubber, standard_annotator

        recognisers = recognisers_with(self.recognisers)
        refuse_unknown_types(request.types or (), recognisers)
        lists = PhraseLists.of(request.allow, request.deny)
        scrubber = Scrubber(
            standard_annotator(recognisers=recognisers, deny=lists.deny),
            request.replace,
            self.secrets if request.replace == "pseudonym" or request.dates == "shift" else None,
            request.domain,
            char=request.char,
            keep_length=request.keep_length,
            types=request.types,
            dates=request.dates,
            ages=request.ages,
            allow=lists.allow,
        )
        return BoundScrubber(scrubber)


@dataclass(frozen=True)
class BoundScrubber:
    scrubber: Scrubber

    def scrub_text(self, text: str, person: str = "") -> tuple[str, Mapping[str, int]]:
        scrubbed = self.scrubber.scrub(text, person)
        return scrubbed.text, scrubbed.counts
