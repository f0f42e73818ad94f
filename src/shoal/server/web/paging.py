"""Lists of the API, in pages: ``next`` is what the page that follows is asked for with, and null after the last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import Query, Request
from fastapi.responses import Response

from shoal.server.web.answers import tagged

MOST: Final = 100
SHOWN: Final = 50
"""On one page of the studio."""
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
Before = Annotated[float | None, Query(description="The `next` of the page before.")]
After = Annotated[str, Query(max_length=100, description="The `next` of the page before.")]


def latest(
    request: Request, rows: Sequence[Mapping[str, Any]], limit: int, names: Sequence[str] | None = None
) -> Response:
    """Of what was made one after the other, the latest first. ``rows`` are those of this page."""
    items = [dict(row) if names is None else {name: row[name] for name in names} for row in rows]
    return tagged(request, {"items": items, "next": rows[-1]["created"] if len(rows) == limit else None})


def following(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Where the page of the studio begins that follows a full one."""
    return rows[-1]["created"] if len(rows) == SHOWN else None


def by_name(request: Request, items: Iterable[Mapping[str, Any]], limit: int, after: str, name: str = "id") -> Response:
    """Of what has names, in their order."""
    left = sorted((one for one in items if one[name] > after), key=lambda one: str(one[name]))
    shown = left[:limit]
    return tagged(request, {"items": shown, "next": shown[-1][name] if len(left) > limit else None})
