"""The recognisers that come with Shoal and with other distributions.

To read our files and check every pattern takes longer than to look for them in a page of text; so what was read is
kept (``shoal.kernels.derived_files``). It comes back as it was, since nothing in it is more than texts and numbers: a
check is kept by its name.
"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from shoal.discover.recognisers.base import InText, Recogniser
from shoal.discover.recognisers.checks import CHECKS, Check, PhoneCheck, RangeCheck, StdnumCheck, check_named
from shoal.kernels.derived_files import DerivedKey, Sections, derived_key, kept_or_made
from shoal.schema.registry import loaded, plugins
from shoal.schema.roles import Role
from shoal.schema.values import ValueType

ORDER: Final = ("india", "singapore", "international", "people", "united_states", "united_kingdom")
"""Where two are as sure as each other, the earlier is believed. Files that are not named here come after these."""
PLUGINS: Final = "shoal.recognisers"
"""The group of entry points that are paths of further files."""
_SECTION: Final = "recognisers"
_STDNUM: Final = "stdnum."

Plain = dict[str, Any]
"""A recogniser as JSON has it."""


def installed() -> tuple[Recogniser, ...]:
    """Ours, with those that other distributions add."""
    chosen = {recogniser.key: recogniser for recogniser in shipped()}
    for entry in plugins(PLUGINS):
        from shoal.discover.recognisers.pack_files import recognisers_at

        chosen |= {recogniser.key: recogniser for recogniser in recognisers_at(Path(loaded(entry)))}
    return tuple(chosen.values())


@cache
def shipped() -> tuple[Recogniser, ...]:
    """The recognisers that come with Shoal."""
    return tuple(map(_from_plain, json.loads(kept_or_made(_SECTION, shipped_key(), _made)[_SECTION])))


@cache
def shipped_key() -> DerivedKey:
    """Of our files and of what reads them."""
    home = resources.files("shoal.discover.recognisers")
    files = sorted([*home.iterdir(), *(home / "packs").iterdir()], key=lambda file: file.name)
    read = [file.read_bytes() for file in files if file.name.endswith((".py", ".yaml"))]
    return derived_key(read, (version("python-stdnum"), version("google-re2")))


def pack_texts() -> dict[str, str]:
    """Our files by name, in the order in which they are believed."""
    folder = resources.files("shoal.discover.recognisers") / "packs"
    files = {file.name.removesuffix(".yaml"): file for file in folder.iterdir() if file.name.endswith(".yaml")}
    names = [*(name for name in ORDER if name in files), *sorted(files.keys() - set(ORDER))]
    return {f"{name}.yaml": files[name].read_text(encoding="utf-8") for name in names}


def _made() -> Sections:
    from shoal.discover.recognisers.pack_files import recognisers_in

    read = [recogniser for name, text in pack_texts().items() for recogniser in recognisers_in(text, name)]
    return {_SECTION: json.dumps([_plain(recogniser) for recogniser in read], ensure_ascii=False).encode()}


def _plain(one: Recogniser) -> Plain:
    plain = {field.name: getattr(one, field.name) for field in fields(one)}
    text = None
    if one.text is not None:
        text = {field.name: getattr(one.text, field.name) for field in fields(one.text)}
        text["check"] = _check_name(one.text.check)
    types = None if one.types is None else sorted(one.types)
    return {**plain, "check": _check_name(one.check), "types": types, "text": text}


def _check_name(check: Check | None) -> str | list[float] | None:
    match check:
        case None:
            return None
        case RangeCheck(low, high):
            return [low, high]
        case StdnumCheck(module):
            return module
        case PhoneCheck(regions):
            return f"phone in {', '.join(regions)}"
    return next(name for name, known in CHECKS.items() if known == check)


def _from_plain(plain: Plain) -> Recogniser:
    """As it was read from its file; what JSON has lists for are tuples again."""
    types, text = plain["types"], plain["text"]
    return Recogniser(
        **{
            **plain,
            "role": Role(plain["role"]),
            "names": tuple(plain["names"]),
            "never": tuple(plain["never"]),
            "called": tuple(plain["called"]),
            "examples": tuple(plain["examples"]),
            "counter_examples": tuple(plain["counter_examples"]),
            "check": _check_called(plain["check"]),
            "types": None if types is None else frozenset(map(ValueType, types)),
            "text": None if text is None else _text_from_plain(text),
        }
    )


def _text_from_plain(plain: Plain) -> InText:
    words = {name: tuple(plain[name]) for name in ("context", "avoid", "avoid_after", "after")}
    return InText(**{**plain, **words, "check": _check_called(plain["check"])})


def _check_called(name: str | list[float] | None) -> Check | None:
    """That there is such a number in python-stdnum was looked up when the file was read."""
    if isinstance(name, list):
        return RangeCheck(*name)
    if name is not None and name.startswith(_STDNUM):
        return StdnumCheck(name)
    return None if name is None else check_named(name)
