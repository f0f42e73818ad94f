"""Judging a synthetic table beside the one that it was made from: what it still tells, what attacks get out of it."""

from shoal.assess.synthetic.assessment import assess_synthetic, with_gates
from shoal.assess.synthetic.gates import parse_gates, require_known
from shoal.assess.synthetic.several_tables import assess_synthetic_tables
from shoal.assess.synthetic.table_relations import KeyLink, TableRelations

__all__ = [
    "KeyLink",
    "TableRelations",
    "assess_synthetic",
    "assess_synthetic_tables",
    "parse_gates",
    "require_known",
    "with_gates",
]
