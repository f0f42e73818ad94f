"""What can be read back: released columns that tell what was generalised, starred, masked or altered in another.

A class of k people protects nobody if other columns of the same records split it. So it is measured on records whose
originals are known, how far released columns tell the original of each quasi-identifier, alone and in pairs, by value,
by parts of values, by arithmetic, by shared characters, by the order of rows. What is told is put back, on the finest
level that is told, and classes are counted again: *effective k*.
"""

from shoal.measurement.read_back.disclosure_rule import ColumnDisclosure, DisclosureMethod, DisclosureRule, ReadBack
from shoal.measurement.read_back.levels import Levels
from shoal.measurement.read_back.recount import read_back
from shoal.measurement.read_back.search import KnownQuasi, TrainingRecords

__all__ = [
    "ColumnDisclosure",
    "DisclosureMethod",
    "DisclosureRule",
    "KnownQuasi",
    "Levels",
    "ReadBack",
    "TrainingRecords",
    "read_back",
]
