"""Which carrier reads an attachment. Apart from the registry, which knows mails too."""

from __future__ import annotations

from pathlib import PurePath

from shoal.documents.base import DocumentFormat, DocumentOptions, document_formats


def format_of_attachment(name: str, media: str, options: DocumentOptions) -> DocumentFormat | None:
    """By the ending of its name, or by its media type; None where nothing can read it."""
    ending = PurePath(name).suffix.lower()
    inner = options.deeper()
    for carrier in document_formats():
        if ending in carrier.endings:
            return carrier(inner)
    for carrier in document_formats():
        if not ending and media in carrier.media:
            return carrier(inner)
    return None
