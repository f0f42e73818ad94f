"""The main job: policy in, release out."""

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.assess.measure.table_measurement import measure
    from shoal.release.destinations import Release
    from shoal.release.run import anonymise

__all__ = ["Release", "anonymise", "measure"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Release": "shoal.release.destinations",
        "anonymise": "shoal.release.run",
        "measure": "shoal.assess.measure.table_measurement",
    },
)
