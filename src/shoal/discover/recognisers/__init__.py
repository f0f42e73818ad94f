"""What is known by its form: one declarative file per country or field. A new kind of number is one new entry."""

from shoal.discover.recognisers.base import InText, Recogniser, Setting, words
from shoal.discover.recognisers.recogniser_set import (
    PROJECT_FILE,
    RecogniserSet,
    default_recognisers,
    project_files,
    with_files,
)
from shoal.discover.recognisers.shipped_recognisers import shipped

__all__ = [
    "PROJECT_FILE",
    "InText",
    "Recogniser",
    "RecogniserSet",
    "Setting",
    "default_recognisers",
    "project_files",
    "shipped",
    "with_files",
    "words",
]
