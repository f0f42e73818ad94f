"""No word of anybody's text outlives the object that read it."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
import types
from collections.abc import Iterator

import pytest

import shoal
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.scoped_cache import ScopedCache, cached_in_scope
from shoal.text.spacy_finder import available

pytestmark = pytest.mark.requirement("X-02")

AT_LEAST = 5

# A process that reads texts with a word that stands nowhere else, drops what read them, and looks for the word in every
# text that a living object refers to. The word itself is never whole in the program.
READER = """
import gc, sys
PIECES = ("Zorva", "xquin")

def texts():
    word = "".join(PIECES)
    line = (f"Dear {word} Thistlemoor of {word} Systems Ltd, {word}ville Road 12, {word.lower()}@example.org, "
        f"called +91 98450 12345 on 2026-01-05 from the {word}-based clinic; {word}ly, Tan-{word}.")
    marked = f"ok {word} Rao\\u00b0 +919845012345\\u00b0"
    return [line, line + f" {word}\\u00e9, {word}\\u00e9 Lim.", f"{word} 4711\\n" * 60, marked]

def texts_in(holder):
    # Tables of plain texts are not tracked themselves, only what refers to them is.
    waiting = [holder]
    while waiting:
        for part in gc.get_referents(waiting.pop()):
            if isinstance(part, str | bytes):
                yield part if isinstance(part, str) else part.decode("latin-1")
            elif isinstance(part, dict | tuple) and not gc.is_tracked(part):
                waiting.append(part)

def found():
    gc.collect()
    needle = "".join(PIECES).lower()
    holders = []
    for holder in gc.get_objects():
        if any(text is not needle and needle in text.lower() for text in texts_in(holder)):
            holders.append(f"{type(holder).__name__} {getattr(holder, '__wrapped__', '')}")
    return holders

def read(model):
    from shoal.scan.annotators import annotate_by
    from shoal.scrub.scrubber import Scrubber, standard_annotator
    for replace in ("label", "pseudonym", "mask"):
        scrubber = Scrubber(standard_annotator(model), replace)
        scrubber.scrub_many(texts(), "who")
        for text in texts():
            scrubber.scrub(scrubber.scrub(text).text)
    annotate = annotate_by()
    for text in texts():
        annotate(text)
    return found()

model = sys.argv[1]
during = read(model)
from shoal.text import spacy_finder
strings = () if model == "none" else spacy_finder._loaded(model).vocab.strings
known = [text for text in strings if "".join(PIECES).lower() in text.lower()]
print(len(during), found(), known)
"""


@pytest.mark.parametrize("model", ["none", available() or "none"], ids=["lists", "learned"])
def test_a_text_is_gone_with_whoever_read_it(model: str) -> None:
    done = subprocess.run([sys.executable, "-c", READER, model], check=True, capture_output=True, text=True)
    during, _, after = done.stdout.strip().partition(" ")
    assert int(during) > AT_LEAST, "what is remembered has to be seen while its owner lives, or nothing is shown"
    assert after == "[] []"


def modules() -> Iterator[types.ModuleType]:
    for found in pkgutil.walk_packages(shoal.__path__, "shoal."):
        if not found.name.endswith("__main__") and ".spark" not in found.name:
            yield importlib.import_module(found.name)


KEYS_OF_OURS = {
    "shoal.report.sections._text_of": "an entry point of a report section",
    "shoal.report.sections._condition": "the condition that a report section declares of itself",
    "shoal.scan.annotators._patterns": "a set of recognisers",
    "shoal.discover.recognisers.checks.check_named": "the name of a check, from a recogniser's file",
    "shoal.pseudonyms.formats.name.names_of": "a locale",
    "shoal.pseudonyms.formats.phone._beginnings": "a country",
    "shoal.text.lexicon.gazetteers.sections_in": "the name of a list",
    "shoal.text.spacy_finder._loaded": "the name of a model",
    "shoal.scrub.surrogates._known": "a locale",
    "shoal.privacy.models.population_uniqueness._too_many": "sizes of classes",
    "shoal.hierarchy.classifications.classification.classification": "the name of a classification",
    "shoal.text.matching.pattern_syntax.read_pattern": "a pattern of a recogniser",
    "shoal.text.matching.pattern_shape._class": "what a character of a pattern can be",
    "shoal.dp.running_totals.best_strategy": "a number of periods, and how costs add up",
    "shoal.curator.budget_tables.known_budget_tables": "what a dataset's tables are called",
    "shoal.ledger.database._file_engine": "the address of a ledger's file",
    "shoal.synth.test_data.generators.accounts._endings": "domains that are kept free",
    "shoal.synth.test_data.generators.addresses._tables": "a country",
    "shoal.synth.test_data.generators.names._sets": "a community",
    "shoal.synth.test_data.generators.names.faker_names": "a locale",
    "shoal.server.web.languages.translations": "a language of the studio",
    "shoal.server.studio.page_rendering._templates": "a language of the studio",
    "shoal.synth.test_data.generators.tax_numbers._gstin_layout": "a kind of holder",
    "shoal.synth.test_data.generators.tax_numbers._pan_layout": "a kind of holder",
    "shoal.synth.test_data.generators.text._layout": "a pattern of a schema",
}
"""What module-level caches may be asked for by text: names that the program or the policy's author gave, no data."""


def process_wide(module: types.ModuleType) -> Iterator[str]:
    """Caches of a module whose functions take an argument that can be a text."""
    classes = [one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == module.__name__]
    for name, value in [item for owner in (module, *classes) for item in vars(owner).items()]:
        if isinstance(value, functools._lru_cache_wrapper) and value.__module__ == module.__name__:
            taken = inspect.signature(value.__wrapped__).parameters.values()
            if any(str(one.annotation) not in {"float", "int", "bool"} for one in taken):
                yield f"{module.__name__}.{name}"


GROWING = {"setdefault", "append", "add", "update", "extend", "insert"}
CONTAINERS = {"dict", "list", "set", "defaultdict", "OrderedDict", "Counter", "deque", "WeakValueDictionary"}
KEPT_BY_MODULES = {
    "shoal.attack.registry._REGISTERED": "attacks, by their names",
    "shoal.schema.registry._loading": "packages whose plug-ins are being imported",
    "shoal.kernels.early_checksums._begun": "states and checksums of files that a command is about",
    "shoal.io.atomic.unfinished._unfinished": "paths of files that are being written, until they are whole",
}
"""What grows in a module while the program runs, and holds no value of any data."""


def growing(source: str) -> Iterator[str]:
    """Containers of a module that its functions put something into."""
    tree = ast.parse(source)
    bound = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_container(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)):
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if attribute in GROWING:
                    pass
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                    pass
                case _:
                    continue
            if name in bound - _own_names(function):
                yield name


def _is_container(value: ast.expr | None) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(value=ast.Name(id=name))):
            return name in CONTAINERS
    return isinstance(value, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp)


def _own_names(function: ast.AST) -> set[str]:
    """What a function or a class calls something of its own."""
    return {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(function)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }


def test_what_grows_in_a_module_is_no_data() -> None:
    found = {f"{module.__name__}.{name}" for module in modules() for name in growing(inspect.getsource(module))}
    assert found - set(KEPT_BY_MODULES) == set()


@pytest.mark.parametrize("line", ["_seen[text] = 1", "_seen.setdefault(text, 0)", "_seen.update({text: 1})"])
def test_a_table_that_grows_would_be_seen(line: str) -> None:
    assert list(growing(f"_seen: dict[str, int] = {{}}\ndef look(text):\n    {line}")) == ["_seen"]
    assert list(growing(f"_seen = defaultdict(int)\ndef look(text):\n    {line}")) == ["_seen"]
    assert list(growing(f"_seen = {{}}\ndef look(text, _seen):\n    {line}")) == []


def test_no_cache_of_a_module_takes_texts() -> None:
    assert {name for module in modules() for name in process_wide(module)} == set(KEYS_OF_OURS)


def test_a_cache_of_texts_would_be_seen() -> None:
    bad = types.ModuleType("bad")

    def names(text: str) -> str:
        return text

    names.__module__ = "bad"
    bad.names = functools.lru_cache(names)  # type: ignore[attr-defined]
    assert list(process_wide(bad)) == ["bad.names"]


def test_each_finder_remembers_for_itself() -> None:
    one, other = LexiconFinder(), LexiconFinder()
    one.find("Dear Asha Rao")
    assert one.memory.table(LexiconFinder)
    assert not other.memory.table(LexiconFinder)
    assert one == other
    assert not pickle.loads(pickle.dumps(one)).memory.table(LexiconFinder)  # noqa: S301


def test_what_is_remembered_is_bounded_and_goes_with_its_memory() -> None:
    asked: list[str] = []

    @cached_in_scope(most=3)
    def of(word: str) -> str:
        asked.append(word)
        return word

    memory = ScopedCache()
    with memory.in_use():
        for word in "abcab":
            of(word)
        assert asked == ["a", "b", "c"]
        of("d")
        assert len(memory.table(of.__wrapped__)) == 1  # type: ignore[attr-defined]
    of("a")
    assert asked == ["a", "b", "c", "d", "a"]
