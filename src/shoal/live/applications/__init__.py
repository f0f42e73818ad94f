"""Masking where a program gives something out: responses, logs, rows of a cursor, frames; by the same policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.live.applications.accessors import register_accessors
    from shoal.live.applications.cursors import MaskedCursor
    from shoal.live.applications.field_masks import FieldMasks, masked
    from shoal.live.applications.log_filter import MaskingFilter
    from shoal.live.applications.responses import MaskedResponses, MaskedWsgiResponses, ResponseMasks

__all__ = [
    "FieldMasks",
    "MaskedCursor",
    "MaskedResponses",
    "MaskedWsgiResponses",
    "MaskingFilter",
    "ResponseMasks",
    "masked",
    "register_accessors",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "FieldMasks": "shoal.live.applications.field_masks",
        "MaskedCursor": "shoal.live.applications.cursors",
        "MaskedResponses": "shoal.live.applications.responses",
        "MaskedWsgiResponses": "shoal.live.applications.responses",
        "MaskingFilter": "shoal.live.applications.log_filter",
        "ResponseMasks": "shoal.live.applications.responses",
        "masked": "shoal.live.applications.field_masks",
        "register_accessors": "shoal.live.applications.accessors",
    },
)
