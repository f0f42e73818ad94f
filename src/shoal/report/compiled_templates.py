"""Templates as Python code, kept where Python keeps compiled modules, by the same rules.

Compiling the templates of a report takes longer than filling them in.
"""

from __future__ import annotations

import marshal
import sys
from contextlib import suppress
from importlib.metadata import version
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from shoal.errors import TargetError
from shoal.io import atomic_binary


class CompiledTemplates(BytecodeCache):
    """Where nothing may be written (``PYTHONDONTWRITEBYTECODE``, a folder of somebody else), nothing is kept.

    ``settings`` tells apart what was compiled in another way: an entry counts only if they and the text are the same.
    """

    def __init__(self, folder: Path, settings: str) -> None:
        self._folder = folder
        self._settings = f"{version('jinja2')} {settings}"

    def get_source_checksum(self, source: str) -> str:
        return super().get_source_checksum(f"{self._settings}\n{source}")

    def load_bytecode(self, bucket: Bucket) -> None:
        head = _head(bucket)
        with suppress(OSError, ValueError, EOFError, TypeError):
            kept = self._path(bucket).read_bytes()
            if kept.startswith(head):
                bucket.code = marshal.loads(kept[len(head) :])  # noqa: S302  # as trusted as the modules beside it

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        with suppress(OSError, TargetError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_binary(path) as file:
                file.write(_head(bucket) + marshal.dumps(bucket.code))

    def _path(self, bucket: Bucket) -> Path:
        return Path(cache_from_source(str(self._folder / f"{bucket.key}.py")))


def _head(bucket: Bucket) -> bytes:
    return MAGIC_NUMBER + bucket.checksum.encode()
