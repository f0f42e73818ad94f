"""Released labels read back: which values ``30-39``, ``[30, 40)``, ``< 18``, ``2026-03``, ``560xxx``, ``{a, b}`` mean.

The hierarchies beside this package write labels; an attack and a comparison of original and release have to read them,
whoever wrote them. The grammar is in ``ends``; ``ValueLine`` says which values a label covers, ``Spans`` which range it
stands for.
"""

from shoal.hierarchy.labels.line import ValueLine
from shoal.hierarchy.labels.masks import Shape, members, shape_of
from shoal.hierarchy.labels.points import read_dates, read_numbers, text_of
from shoal.hierarchy.labels.spans import Spans, date_spans, number_spans

__all__ = [
    "Shape",
    "Spans",
    "ValueLine",
    "date_spans",
    "members",
    "number_spans",
    "read_dates",
    "read_numbers",
    "shape_of",
    "text_of",
]
