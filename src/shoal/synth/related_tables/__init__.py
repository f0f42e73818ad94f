"""Several tables: parents, their children by foreign keys, and sequences of records, which belong together.

How many children a parent has depends on the parent; each child on its parents, and in a sequence on the one before it.
"""

from shoal.synth.related_tables.description import RelatedTable, RelatedTablesDescription
from shoal.synth.related_tables.files import load_related_tables, save_related_tables
from shoal.synth.related_tables.fitting import fit_related_tables
from shoal.synth.related_tables.model import RelatedTablesModel

__all__ = [
    "RelatedTable",
    "RelatedTablesDescription",
    "RelatedTablesModel",
    "fit_related_tables",
    "load_related_tables",
    "save_related_tables",
]
