"""What is known by its form: one declarative table per country. A new kind of number is one new line."""

from shoal.discover.recognisers.base import Recogniser, Setting, words
from shoal.discover.recognisers.india import INDIA
from shoal.discover.recognisers.international import COMMON
from shoal.discover.recognisers.singapore import SINGAPORE

RECOGNISERS: tuple[Recogniser, ...] = (*INDIA, *SINGAPORE, *COMMON)

__all__ = ["RECOGNISERS", "Recogniser", "Setting", "words"]
