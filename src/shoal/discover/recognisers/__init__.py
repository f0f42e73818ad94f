"""What is known by its form: one declarative file per country or field. A new kind of number is one new entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.discover.recognisers.base import InText, Recogniser, Setting, words
    from shoal.discover.recognisers.project_file import PROJECT_FILE, project_files
    from shoal.discover.recognisers.recogniser_set import RecogniserSet, default_recognisers, with_files
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

__getattr__ = lazy_exports(
    __name__,
    {
        "InText": "shoal.discover.recognisers.base",
        "PROJECT_FILE": "shoal.discover.recognisers.project_file",
        "Recogniser": "shoal.discover.recognisers.base",
        "RecogniserSet": "shoal.discover.recognisers.recogniser_set",
        "Setting": "shoal.discover.recognisers.base",
        "default_recognisers": "shoal.discover.recognisers.recogniser_set",
        "project_files": "shoal.discover.recognisers.project_file",
        "shipped": "shoal.discover.recognisers.shipped_recognisers",
        "with_files": "shoal.discover.recognisers.recogniser_set",
        "words": "shoal.discover.recognisers.base",
    },
)
