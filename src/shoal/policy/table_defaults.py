"""What stands beside the tables of a policy is for all of them: one table's entry with those defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.policy.load import TABLES_KEY, PolicyFinding, validated
from shoal.policy.model import Policy
from shoal.policy.yaml_tree import TreePath, YamlTree
from shoal.schema import Role

NAME_LENGTH = 100
_OF_THE_WHOLE = ("shoal", "name", "tables", "references", "vault", "joined", "leave_out")
_BY_KEY = ("solve", "assess")
"""Defaults of these are taken key by key."""
_FOR_QUASI = ("privacy", "solve")
"""These make sense only for a table with quasi-identifiers."""


class TableEntry:
    """One table's entry with the defaults of all tables filled in, and where each part of it stands in the file."""

    def __init__(self, tree: YamlTree, data: Mapping[str, object], name: str, own: Mapping[str, object]) -> None:
        self.tree = tree
        self.name = name
        self.misplaced = tuple(key for key in _OF_THE_WHOLE if key in own)
        self.defaulted: set[TreePath] = set()
        self.kept: list[int] = []
        """Of the models at the top, the places of those that are for single tables too."""
        self.data = {key: given for key, given in own.items() if key not in _OF_THE_WHOLE}
        title = data.get("name")
        self.data |= {"shoal": 1, "name": f"{title} - {name}"[:NAME_LENGTH] if isinstance(title, str) else name}
        self._fill_in(data)

    def _fill_in(self, top: Mapping[str, object]) -> None:
        quasi = _has_quasi(self.data)
        top = {**top, **self._privacy(top)}
        for key in ("use_case", "purpose", "responsible", "vault", "shred_on", "privacy", *_BY_KEY):
            if key not in top or (key in _FOR_QUASI and not quasi):
                continue
            default, own = top[key], self.data.get(key)
            if key not in self.data:
                self.data[key] = default
                self.defaulted.add((key,))
            elif key in _BY_KEY and isinstance(default, dict) and isinstance(own, dict):
                self.defaulted |= {(key, part) for part in default if part not in own}
                self.data[key] = {**default, **own}
        for key in ("source", "target"):
            self._in_database(key, top.get(key))

    def _privacy(self, top: Mapping[str, object]) -> dict[str, object]:
        """Without the models that name a TABLE.COLUMN, which are of the joined tables only."""
        given = top.get("privacy")
        if not isinstance(given, list):
            return {}
        tables = top.get(TABLES_KEY)
        named = tables.keys() if isinstance(tables, dict) else ()
        self.kept = [place for place, model in enumerate(given) if _table_in(model) not in named]
        return {"privacy": [given[place] for place in self.kept]}

    def _in_database(self, key: str, given: object) -> None:
        """The table of this name in the database of all, unless the entry says where it is."""
        default = {"url": given} if isinstance(given, str) else given
        own = self.data.get(key, {})
        if not isinstance(default, dict) or not isinstance(own, dict) or own.keys() & {"url", "path", "merge"}:
            return
        if key not in self.data:
            self.defaulted.add((key,))
        named = {} if "query" in own else {"table": self.name}
        self.data[key] = {**default, **named, **own}

    def validated(self) -> tuple[Policy | None, list[PolicyFinding]]:
        policy, found = validated(Policy, self._tree())
        misplaced = [((TABLES_KEY, self.name, key), "stands at the top, not in a table") for key in self.misplaced]
        return policy, [*misplaced, *((self._in_file(path), message) for path, message in found)]

    def _tree(self) -> YamlTree:
        """The table's own marks, and those of the defaults, as if all stood in a policy of one table."""
        at = (TABLES_KEY, self.name)
        marks = {path[2:]: mark for path, mark in self.tree.marks.items() if path[:2] == at}
        for path, mark in self.tree.marks.items():
            if path[:1] in self.defaulted or path[:2] in self.defaulted:
                marks.setdefault(self._renumbered(path), mark)
        return YamlTree(self.data, marks)

    def _renumbered(self, path: TreePath) -> TreePath:
        """As the models are counted in the table; those of the joined tables only come after all others."""
        if path[:1] != ("privacy",) or len(path) == 1:
            return path
        place = self.kept.index(int(path[1])) if path[1] in self.kept else len(self.kept) + int(path[1])
        return ("privacy", place, *path[2:])

    def _in_file(self, path: TreePath) -> TreePath:
        from_above = path[:1] in self.defaulted or path[:2] in self.defaulted
        if from_above and path[:1] == ("privacy",) and len(path) > 1:
            return ("privacy", self.kept[int(path[1])], *path[2:])
        return path if from_above else (TABLES_KEY, self.name, *path)


def _table_in(model: object) -> str | None:
    """The table in the attribute that a model names, as TABLE.COLUMN."""
    told = next(iter(model.values()), None) if isinstance(model, dict) else None
    table, dot, _ = str(told.get("attribute", "")).partition(".") if isinstance(told, dict) else ("", "", "")
    return table if dot else None


def _has_quasi(table: Mapping[str, object]) -> bool:
    attributes = table.get("attributes")
    given = attributes.values() if isinstance(attributes, dict) else ()
    return any(isinstance(one, dict) and one.get("role") == Role.QUASI for one in given)
