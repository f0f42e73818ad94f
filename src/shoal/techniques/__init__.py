"""De-identification techniques: one file each, each registers itself under its policy key."""

from shoal.techniques.base import (
    Context,
    Facts,
    Lowers,
    Missing,
    Scope,
    Stage,
    Step,
    TableTechnique,
    Technique,
    table_techniques,
    techniques,
)

__all__ = [
    "Context",
    "Facts",
    "Lowers",
    "Missing",
    "Scope",
    "Stage",
    "Step",
    "TableTechnique",
    "Technique",
    "table_techniques",
    "techniques",
]
