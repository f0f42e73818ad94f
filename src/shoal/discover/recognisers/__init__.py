"""What is known by its form: one declarative file per country or field. A new kind of number is one new entry."""

from shoal.discover.recognisers.base import InText, Recogniser, Setting, words
from shoal.discover.recognisers.loading import shipped, with_files

RECOGNISERS: tuple[Recogniser, ...] = shipped()

__all__ = ["RECOGNISERS", "InText", "Recogniser", "Setting", "shipped", "with_files", "words"]
