"""``shoal measure RELEASE --auxiliary DATA``: a release looked at again."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.assess.reassess.reassessment import Reassessment
from shoal.results.number_format import count
from shoal.results.record_counts import CountBasis


def reassessment_lines(found: Reassessment) -> Iterator[str]:
    yield f"linked by {', '.join(found.attributes)}: {found.fitting:,} of {count(found.people, 'person', 'people')} fit"
    if found.altered:
        yield f"not linked by {', '.join(found.altered)}: altered, so they fit by chance; `shoal attack` tries these"
    elif found.altered is None:
        yield "the release doesn't say which columns were altered, and those may fit by chance: give --policy"
    if found.unknown:
        yield f"{count(found.unknown, 'person', 'people')} with values that the hierarchies don't have fit * there only"
    if found.fitting:
        least, perhaps = (", at least", "perhaps ") if found.counted is CountBasis.AT_LEAST else ("", "")
        yield f"fewest people that one of them could be{least}: {found.fewest:,}; {perhaps}only one: {found.alone:,}"
    if found.unread_labels:
        yield (
            f"{count(found.unread_labels, 'released label')} can't be read, so more records seem to fit than do: "
            "give the --policy of the release"
        )
    yield _verdict(found)


def _verdict(found: Reassessment) -> str:
    promised = f"the {found.k:,} that the release promised"
    if not found.fitting:
        return "nobody in it fits any record, so it shows nothing about the release"
    if found.below:
        return f"{found.below:,} are among fewer than {promised}"
    if found.perhaps_below:
        return f"{found.perhaps_below:,} may be among fewer than {promised}: whose the records are is not known"
    if not found.shown:
        return f"that nobody is among fewer than {promised} is not shown"
    return f"nobody is among fewer than {promised}"
