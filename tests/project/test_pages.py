"""Pages that must agree with the code: each command and option, error, use case, technique, requirement, decision."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import typer.main

import reference
import standards
from shoal import errors
from shoal.cli.app import COMMANDS, app
from shoal.hierarchy import hierarchies
from shoal.io import options
from shoal.policy import PRESETS, Attribute, Policy, Solve
from shoal.policy.model import Output
from shoal.privacy import privacy_models
from shoal.release import anonymise

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def section(page: str, title: str) -> str:
    """The text below a heading of the second level."""
    found = re.search(rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"no section '{title}'"
    return found[1]


def error_classes() -> list[type[errors.ShoalError]]:
    members = vars(errors).values()
    return [one for one in members if inspect.isclass(one) and issubclass(one, errors.ShoalError)]


def test_every_error_has_its_anchor_and_no_other() -> None:
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (SHOAL-\d+)$", page, re.MULTILINE) == [one.code for one in error_classes()]
    for one in error_classes():
        assert section(page, one.code).lstrip().startswith(f"`{one.__name__}`")


def test_error_codes_are_unique() -> None:
    codes = [one.code for one in error_classes()]
    assert len(codes) == len(set(codes))


def test_error_tree_is_drawn_as_it_is() -> None:
    assert drawn_tree(errors.__doc__ or "") == {
        one.__name__: one.__mro__[1].__name__ for one in error_classes() if one is not errors.ShoalError
    }


def test_a_wrong_drawing_is_seen() -> None:
    assert drawn_tree("A\n├── B   text\n│   └── C\n└── D") == {"B": "A", "C": "B", "D": "A"}


def drawn_tree(text: str) -> dict[str, str]:
    """Class → its base, from a drawing with four columns per level."""
    parents: dict[str, str] = {}
    above: list[str] = []
    for line in re.findall(r"^(?:[│├└─ ]*)\b[A-Z]\w*(?:Error)?\b(?=$|  )", text, re.MULTILINE):
        name = line.lstrip("│├└─ ")
        depth = (len(line) - len(name)) // 4
        above[depth:] = [name]
        if depth:
            parents[name] = above[depth - 1]
    return parents


def commands() -> dict[str, set[str]]:
    """Each command with its long options, read from the application itself."""
    found = typer.main.get_command(app)
    return {
        name: {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
        for name, command in found.commands.items()  # type: ignore[attr-defined]  # an application with commands is a group
    }


GROUPS = frozenset(name for name, entry in COMMANDS.entries.items() if isinstance(entry.command, typer.Typer))


def documented() -> dict[str, set[str]]:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    names = re.findall(r"^## shoal (\w+)$", page, re.MULTILINE)
    everywhere = listed_options(page, "Options of every command") - {"--help"}
    return {name: listed_options(page, f"shoal {name}") | (set() if name in GROUPS else everywhere) for name in names}


def listed_options(page: str, title: str) -> set[str]:
    """Those in the section's table, and those of the sections for several commands that it refers to."""
    text = section(page, title)
    referred = re.findall(r"^\| \[(options for \w+)\]", text, re.MULTILINE)
    own = set(re.findall(r"^\| `(--[a-z-]+)", text, re.MULTILINE))
    return own.union(*(listed_options(page, name.capitalize()) for name in referred))


def test_every_command_and_option_is_documented_and_no_other() -> None:
    assert documented() == commands()


@pytest.mark.requirement("G-02")
def test_use_cases_on_the_page_are_the_presets() -> None:
    page = (DOCS / "how-to" / "choose-a-use-case.md").read_text(encoding="utf-8")
    _, *lines = re.findall(r"^\| `.*$", page, re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    assert {row[0].strip("`"): row[2:] for row in rows} == {
        str(case): [
            "yes" if preset.anonymised else "no",
            str(preset.k or "—"),
            ", ".join(str(step) for step in preset.steps),
            "yes" if preset.controls else "no",
        ]
        for case, preset in PRESETS.items()
    }


@pytest.mark.requirement("T-28")
def test_techniques_page_is_current() -> None:
    page = DOCS / "reference" / "techniques.md"
    assert page.read_text(encoding="utf-8") == reference.page(), "run `make generate`"


def test_privacy_models_page_is_current() -> None:
    page = DOCS / "reference" / "privacy-models.md"
    assert page.read_text(encoding="utf-8") == reference.models_page(), "run `make generate`"
    assert [key for key, model in privacy_models if not model.example] == []


def test_standards_page_is_current() -> None:
    made = standards.page(standards.read_requirements(), standards.read_marks(ROOT / "tests"))
    assert (DOCS / "standards.md").read_text(encoding="utf-8") == made, "run `make generate`"


def test_every_requirement_that_is_shown_has_a_page() -> None:
    marks = standards.read_marks(ROOT / "tests")
    known = [one for group in standards.read_requirements().values() for one in group]
    assert [one.id for one in known if one.id in marks and one.page is None] == []
    pages = {one.page.partition("#")[0] for one in known if one.page is not None}
    assert [page for page in sorted(pages) if not (DOCS / page).is_file()] == []


def test_every_kind_of_hierarchy_is_documented() -> None:
    page = (DOCS / "reference" / "hierarchies.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == set(hierarchies.names())


def test_every_policy_key_is_documented() -> None:
    page = (DOCS / "reference" / "policy.md").read_text(encoding="utf-8")
    for title, model in {"Top level": Policy, "Output": Output, "Attribute": Attribute, "Solve": Solve}.items():
        keys = set(re.findall(r"^\| `(\w+)`", section(page, title), re.MULTILINE))
        assert keys == set(model.model_fields) - {"table"}, title  # type: ignore[attr-defined]
    assert set(re.findall(r"^\| `(\w+)`", section(page, "Privacy models"), re.MULTILINE)) == set(privacy_models.names())


def test_every_key_of_the_manifest_is_documented() -> None:
    page = (DOCS / "reference" / "release-json.md").read_text(encoding="utf-8")
    policy = Policy.from_text("{shoal: 1, name: a, attributes: {age: {role: quasi}}, privacy: [{k_anonymity: {k: 1}}]}")
    manifest = anonymise(pl.DataFrame({"age": [1, 2]}), policy).manifest.to_dict()
    named = set(re.findall(r"`([\w.]+)`", page))
    nested = [f"{key}.{inner}" for key in ("data", "solution", "suppressed", "decoys") for inner in manifest[key]]
    listed = [*manifest["risk"], *manifest["utility"], *manifest["timing"], *manifest["models"][0]]
    keys = [key for key in manifest if key not in ("data", "solution", "suppressed", "decoys")]
    assert [key for key in (*keys, *nested, *listed) if key not in named] == []


@pytest.mark.parametrize(
    ("page", "titles", "models"),
    [
        ("read-any-file.md", ["When it is found wrongly"], ["FileOptions"]),
        ("databases.md", ["Read", "Write"], ["DatabaseOptions", "DatabaseTargetOptions"]),
    ],
)
def test_every_option_of_sources_and_targets_is_documented(page: str, titles: list[str], models: list[str]) -> None:
    text = (DOCS / "how-to" / page).read_text(encoding="utf-8")
    for title, model in zip(titles, models, strict=True):
        fields = getattr(options, model).model_fields
        named = {field.alias or name for name, field in fields.items()}
        assert set(re.findall(r"^\| `(\w+)`", section(text, title), re.MULTILINE)) == named


def test_decisions_are_listed() -> None:
    index = (DOCS / "decisions" / "index.md").read_text(encoding="utf-8")
    notes = sorted(path.name for path in (DOCS / "decisions").glob("0*.md"))
    assert re.findall(r"^\| \[\d{4}\]\((.*?)\)", index, re.MULTILINE) == notes


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_outside_the_docs_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"(?:\]\(|src=\"|srcset=\")(?!https?:)([^)#\"]+)", text)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_built_pages_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 15
    assert {found for page in pages for found in loads_from_elsewhere(page.read_text(encoding="utf-8"))} == set()


def loads_from_elsewhere(html: str) -> list[str]:
    tags = re.findall(r"<(?:script|img|iframe|link)\b[^>]*>", html)
    return [tag for tag in tags if re.search(r"(?:src|href)=\"?(?:https?:)?//", tag) and 'rel="canonical"' not in tag]


def test_a_page_that_loads_from_elsewhere_is_seen() -> None:
    assert loads_from_elsewhere('<link rel="stylesheet" href="https://fonts.example/css">')
    assert loads_from_elsewhere("<script src=//cdn.example/x.js></script>")
    assert not loads_from_elsewhere('<script src="assets/x.js"></script><a href="https://example.org">')
