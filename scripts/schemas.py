"""Writes the JSON Schemas of results into `docs/reference/schemas/`, and the page that lists them.

``--check`` writes nothing and fails when a file is out of date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from shoal.results.schemas import SCHEMA_VERSION, SCHEMAS, json_schema

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
PAGE = "schemas.md"
HEAD = f"""# JSON Schemas

What Shoal writes for programs to read, as [JSON Schema](https://json-schema.org) (2020-12), version {SCHEMA_VERSION}.
This page and the schemas are made by `make generate` from the models that Shoal itself writes and reads with; a test
fails when they are out of date.

Keys are added in later versions and are to be passed over by whoever doesn't know them. A key that an older version did
not write has a default in the schema. The version grows when something would have to be read in another way.

| Schema | Of |
|---|---|
"""
TAIL = '''
What the keys mean is in [release.json](release-json.md) and [measure and attack as JSON](measure-json.md). In Python:

```python
import polars as pl

import shoal
from shoal.results.manifest import Manifest

policy = shoal.Policy.from_text("""
shoal: 1
name: towns
attributes:
  town: {role: quasi}
privacy: [{k_anonymity: {k: 2}}]
""")
pl.DataFrame({"town": ["north", "north", "south", "south"]}).write_csv("people.csv")
shoal.anonymise("people.csv", policy, output="release")
manifest = Manifest.load("release")
assert (manifest.kind, manifest.risk.k, manifest.source.name) == ("records", 2, "people.csv")
```
'''


def files() -> dict[str, str]:
    """By path below ``docs/reference``, what is to stand there."""
    made = {f"schemas/{name}.json": json.dumps(json_schema(name), indent=2, sort_keys=True) + "\n" for name in SCHEMAS}
    rows = (f"| [{name}.json](schemas/{name}.json) | {where} |\n" for name, (_, where) in SCHEMAS.items())
    return {**made, PAGE: HEAD + "".join(rows) + TAIL}


def main() -> int:
    stale = [path for path, text in files().items() if not _is(FOLDER / path, text)]
    if "--check" in sys.argv:
        for path in stale:
            sys.stderr.write(f"{path} is out of date: run `make generate`\n")
        return 1 if stale else 0
    for path in stale:
        (FOLDER / path).parent.mkdir(exist_ok=True)
        (FOLDER / path).write_text(files()[path], encoding="utf-8")
    return 0


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    raise SystemExit(main())
