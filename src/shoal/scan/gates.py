"""What a pipeline may require of a scan: nothing identifying, or no more than so many of a kind."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.discover.recognisers import RecogniserSet, default_recognisers
from shoal.errors import InputError
from shoal.privacy import ModelFinding as Verdict
from shoal.scan.findings import IDENTIFYING, IN_TEXT_INDIRECT, Scan
from shoal.schema.registry import did_you_mean

NONE = "none"
OTHER_TYPES = frozenset({"person", "place", "group", "standing", "belief", "occupation", "organisation", "health"})


@dataclass(frozen=True)
class ScanGate:
    """``none``, or a kind and how many of it are allowed."""

    type: str
    most: int = 0

    @classmethod
    def parse(cls, text: str, recognisers: RecogniserSet | None = None) -> ScanGate:
        """
        >>> ScanGate.parse("email=0")
        ScanGate(type='email', most=0)
        """
        kind, equals, most = text.partition("=")
        if text == NONE:
            return cls(NONE)
        types = (recognisers or default_recognisers()).types
        known = tuple(sorted(types | IDENTIFYING | IN_TEXT_INDIRECT | OTHER_TYPES))
        if kind not in known:
            raise InputError(f"there is no type '{kind}'{did_you_mean(kind, known)}", field="require", advice="or none")
        if not equals or not most.isdecimal():
            raise InputError("is none, or TYPE=NUMBER, as in email=0", field="require")
        return cls(kind, int(most))

    def judge(self, scan: Scan) -> Verdict:
        if self.type == NONE:
            return Verdict("identifying", 0, scan.identifying, not scan.identifying)
        found = sum(one.count for one in scan.findings if one.type == self.type)
        return Verdict(self.type, self.most, found, found <= self.most)


def unread_verdict(scan: Scan) -> Verdict:
    """What nobody could read may hold anything."""
    return Verdict("unread", 0, len(scan.unread), not scan.unread)
