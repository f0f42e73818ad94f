"""Which carrier reads an attachment. Apart from the registry, which knows mails too."""

from __future__ import annotations

from pathlib import PurePath

from shoal.text.carriers.base import Carrier, Options


def carrier_for(name: str, media: str, options: Options) -> Carrier | None:
    """By the ending of its name, or by its media type; None where nothing can read it."""
    from shoal.text.carriers.registry import CARRIERS

    ending = PurePath(name).suffix.lower()
    inner = options.deeper()
    for carrier in CARRIERS:
        if ending in carrier.endings:
            return carrier(inner)
    for carrier in CARRIERS:
        if not ending and media in carrier.media:
            return carrier(inner)
    return None
