"""Free text: what in it is about a person, and how it is taken out again."""

from shoal.text.annotating import Annotator
from shoal.text.spans import Finder, Span

__all__ = ["Annotator", "Finder", "Span"]
