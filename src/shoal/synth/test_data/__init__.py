"""Test data: tables that have the format of real ones and nothing else of them (PDPC use case 5; MeitY 2.2.8).

No value is read: what a column holds is told by a schema, by a policy file or by the names of the columns. Numbers of
people are written so that they pass the checks of their kind and belong to nobody; each generator says why.
"""

from shoal.synth.test_data.base import Assurance, Generator, Standing, registered_generators
from shoal.synth.test_data.rows import rows_of
from shoal.synth.test_data.table_schema import ColumnSchema, TableSchema

__all__ = ["Assurance", "ColumnSchema", "Generator", "Standing", "TableSchema", "registered_generators", "rows_of"]
