"""What is known by its form: one declarative file per country or field. A new kind of number is one new entry."""

from shoal.discover.recognisers.base import InText, Recogniser, Setting, words
from shoal.discover.recognisers.pack_files import installed, shipped, with_files

RECOGNISERS: tuple[Recogniser, ...] = installed()

__all__ = ["RECOGNISERS", "InText", "Recogniser", "Setting", "installed", "shipped", "with_files", "words"]
