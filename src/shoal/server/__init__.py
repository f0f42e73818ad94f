"""The studio: the library behind a web page and a REST API, for people who don't write YAML.

One process answers requests and never opens a table; worker processes of their own do what reads data. What is done
here is asked of the same use cases as on the command line, and can be exported as the policy that does it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.server.application import create_app
    from shoal.server.settings import ServerSettings

__all__ = ["ServerSettings", "create_app"]

__getattr__ = lazy_exports(
    __name__, {"create_app": "shoal.server.application", "ServerSettings": "shoal.server.settings"}
)
