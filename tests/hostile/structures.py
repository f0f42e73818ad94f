"""Mutations that a format's checksums, lengths and tables of contents don't stop: what is inside is changed, and packed
anew, so that the reader gets as far as what was changed.
"""

from __future__ import annotations

import email
import email.policy
import io
import json
import re
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from email.message import EmailMessage
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

import pikepdf
from lxml import etree  # type: ignore[import-untyped]
from tests.hostile import thrift
from tests.hostile.generated import generated
from tests.hostile.mutations import LENGTHS, mutated
from tests.hostile.trees import changed_tree, mutated_tree

Words = Sequence[bytes]
Structural = Callable[[bytes, Random, Words], bytes]
_NUMBERS: Final = (0, 1, -1, 2, 7, 50, 60, 127, 255, 65535, 2**31 - 1, -(2**31), 2**40, 2**63 - 1, -(2**63))
_TEXTS: Final = (
    "", "0", "-1", "1e999", "99999999999999999999", "true", "s", "XFD1048576", "A1:XFD1048576", "rId1", "x" * 9000,
    "../../x", "http://localhost:1/x", "\u202eé", "2026-13-45", "#REF!", "_x0000_", "a\nb",
)  # fmt: skip
_TIMES: Final = (1, 1, 1, 2, 4)


def restructured(kind: str, content: bytes, random: Random, words: Words) -> bytes:
    """The content changed as what it is; as bytes where that can't be done."""
    with suppress(Exception):
        return STRUCTURES[kind](content, random, words)
    return mutated(content, random, words)


def _archive(content: bytes, random: Random, words: Words) -> bytes:
    """One part of it, mostly one with text, changed as XML."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        parts = old.infolist()
        main = [part for part in parts if re.search(r"sheet|document\.xml|shared|workbook\.xml", part.filename)]
        chosen = random.choice(main if random.random() < 0.6 else parts).filename
        for part in parts:
            inner = old.read(part)
            if part.filename == chosen:
                inner = _xml(inner, random) if random.random() < 0.8 else mutated(inner, random, words)
            new.writestr(zipfile.ZipInfo(part.filename), inner, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _xml(content: bytes, random: Random) -> bytes:
    root = etree.fromstring(content)
    for _ in range(random.choice(_TIMES)):
        elements = [each for each in root.iter() if isinstance(each.tag, str)]
        _change_element(random.choice(elements), elements, random)
    made: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    return made


def _change_element(one: Any, elements: list[Any], random: Random) -> None:
    chance, parent = random.random(), one.getparent()
    if chance < 0.3 and one.attrib:
        one.set(random.choice(list(one.attrib)), random.choice(_TEXTS))
    elif chance < 0.35 and one.attrib:
        del one.attrib[random.choice(list(one.attrib))]
    elif chance < 0.5:
        one.text = random.choice(_TEXTS).replace("\0", "")
    elif chance < 0.6 and parent is not None:
        parent.remove(one)
    elif chance < 0.75 and parent is not None:
        for _ in range(random.choice((1, 2, 20, 300))):
            parent.insert(parent.index(one), deepcopy(one))
    elif chance < 0.85:
        random.choice(elements).append(deepcopy(one))
    elif chance < 0.95:
        one.tag = random.choice(elements).tag
    else:
        for _ in range(random.choice((3, 300))):
            one = etree.SubElement(one, one.tag)


def _parquet(content: bytes, random: Random, words: Words) -> bytes:
    """What the footer says, with its length put right; sometimes what lies before it as well."""
    length = struct.unpack("<I", content[-8:-4])[0]
    body, foot = content[: -8 - length], thrift.Reader(content[-8 - length : -8]).struct()
    for _ in range(random.choice(_TIMES)):
        _change_field(foot, random)
    made = thrift.written(foot)
    if random.random() < 0.2:
        body = b"PAR1" + mutated(body[4:], random)[: len(body) - 4].ljust(len(body) - 4, b"\0")
    return body + made + struct.pack("<I", len(made)) + b"PAR1"


def _change_field(fields: list[thrift.Field], random: Random) -> None:
    structs = list(_structs(fields))
    chosen = random.choice([each for each in structs if each])
    field, chance = random.choice(chosen), random.random()
    if chance < 0.1:
        chosen.remove(field)
    elif isinstance(field.value, thrift.Items) and field.value.values:
        items = field.value.values
        items[random.randrange(len(items)) :] = (
            [] if chance < 0.5 else [deepcopy(random.choice(items))] * random.choice((1, 3))
        )
    elif field.type in thrift.INTEGERS:
        field.value = random.choice((*_NUMBERS, field.value + 1, field.value - 1, field.value * 2))
    elif field.type == thrift.BINARY:
        field.value = mutated(field.value, random) if chance < 0.6 else random.choice(_TEXTS).encode()


def _structs(fields: list[thrift.Field]) -> Any:
    yield fields
    for field in fields:
        inner = field.value.values if isinstance(field.value, thrift.Items) else [field.value]
        for each in inner:
            if isinstance(each, list):
                yield from _structs(each)


def _words_of_memory(content: bytes, random: Random, _: Words) -> bytes:
    """Offsets, lengths and counts of a flat layout: whole aligned words."""
    made = bytearray(content)
    for _times in range(random.choice(_TIMES)):
        size, form = random.choice(((4, "<i"), (8, "<q"), (2, "<h"), (4, ">i"), (2, ">h")))
        reach = random.choice((256, 2048, len(made)))
        at = random.randrange(0, min(reach, len(made)) - 8) // size * size
        if random.random() < 0.5:
            at = (len(made) - 8 - at) // size * size
        (value,) = struct.unpack_from(form, made, at)
        value = random.choice((value + 1, value - 1, value * 2, value ^ 8, -value, random.choice(LENGTHS)))
        struct.pack_into(form.upper(), made, at, value & (256**size - 1))
    return bytes(made)


_SCHEMAS: Final = (
    "UPDATE sqlite_master SET rootpage = :number WHERE name = :name",
    "UPDATE sqlite_master SET sql = :text WHERE name = :name",
    "UPDATE sqlite_master SET sql = replace(sql, 'TEXT', :text) WHERE name = :name",
    "UPDATE sqlite_master SET sql = replace(sql, 'age', 'name') WHERE name = :name",
    "UPDATE sqlite_master SET sql = replace(sql, 'FROM t', 'FROM v') WHERE name = :name",
    "UPDATE sqlite_master SET type = 'view' WHERE name = :name",
    "DELETE FROM sqlite_master WHERE name = :name",
    "UPDATE t SET age = :text",
    "UPDATE t SET age = :number WHERE id % 3 = 0",
    "UPDATE t SET name = zeroblob(:number % 70000000) WHERE id = 5",
    "UPDATE t SET name = x'ff00fe', born = x'00' WHERE id > 20",
    "UPDATE t SET age = 1e308 * 10 WHERE id = 5",
    "UPDATE t SET born = 'tomorrow'",
    "DROP VIEW v",
    "DELETE FROM t",
    "ALTER TABLE t ADD COLUMN x INTEGER GENERATED ALWAYS AS (age / 0)",
    "ALTER TABLE t ADD COLUMN x TEXT GENERATED ALWAYS AS (abs(-9223372036854775807 - age))",
    "PRAGMA user_version = 99",
    "PRAGMA encoding = 'UTF-16be'",
)  # fmt: skip


def _sqlite(content: bytes, random: Random, words: Words) -> bytes:
    """What its schema says and its cells hold; or words in its pages."""
    if random.random() < 0.4:
        return _words_of_memory(content, random, words)
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        path.write_bytes(content)
        there = sqlite3.connect(path, isolation_level=None)
        there.execute("PRAGMA writable_schema = 1")
        for _ in range(random.choice(_TIMES)):
            given = {"name": random.choice("tiv"), "number": random.choice(_NUMBERS), "text": random.choice(_TEXTS)}
            with suppress(sqlite3.Error):
                there.execute(random.choice(_SCHEMAS), given)
        there.close()
        return path.read_bytes()


def _pdf(content: bytes, random: Random, words: Words) -> bytes:
    """Streams changed inside their compression; entries of dictionaries that go, or point elsewhere."""
    with pikepdf.open(io.BytesIO(content)) as document:
        for _ in range(random.choice(_TIMES)):
            _change_object(document, random, words)
        out = io.BytesIO()
        document.save(out, compress_streams=random.random() < 0.5, fix_metadata_version=False)
    return out.getvalue()


def _change_object(document: pikepdf.Pdf, random: Random, words: Words) -> None:
    objects = [
        each for each in document.objects if isinstance(each, pikepdf.Dictionary | pikepdf.Stream | pikepdf.Array)
    ]
    one = random.choice(objects)
    if isinstance(one, pikepdf.Stream) and random.random() < 0.7:
        one.write(mutated(one.read_bytes(), random, words))
        return
    others: list[Any] = [
        *objects, *_NUMBERS[:12], pikepdf.Name("/X"), pikepdf.Name("/FlateDecode"), pikepdf.String("Asha"),
        pikepdf.Array([]), pikepdf.Dictionary(), pikepdf.Array([0, 0, 10**9, 10**9]), True, 1.5,
    ]  # fmt: skip
    if isinstance(one, pikepdf.Array):
        one.append(random.choice(others))
        return
    keys = [key for key in one.keys() if key != "/Length"]  # noqa: SIM118 - no mapping; the length is the library's
    if keys and random.random() < 0.25:
        del one[random.choice(keys)]
    else:
        one[random.choice([*keys, "/Kids", "/Resources", "/Font", "/Contents", "/Parent", "/Filter"])] = random.choice(
            others
        )


def _mail(content: bytes, random: Random, words: Words) -> bytes:
    """Headers and parts of one mail; what is packed into a part is changed inside its packing."""
    made = email.message_from_bytes(content, policy=email.policy.default)
    parts = [part for part in made.walk() if isinstance(part, EmailMessage)]
    for _ in range(random.choice(_TIMES)):
        part, chance = random.choice(parts), random.random()
        headers = list(part.keys())
        if chance < 0.35 and headers:
            chosen = random.choice(headers)
            value = mutated(str(part[chosen]).encode(), random, words).decode("latin-1")
            del part[chosen]
            part._headers.append((chosen, re.sub(r"[\r\n]", " ", value)))  # type: ignore[attr-defined]
        elif chance < 0.45 and headers:
            del part[random.choice(headers)]
        elif part.is_multipart():
            inner: Any = part.get_payload()
            inner.insert(random.randrange(len(inner) + 1), random.choice(parts if chance > 0.95 else inner))
        else:
            packed = part.get_payload(decode=True)
            told = part.get_content_type()
            part.set_content(
                mutated(packed if isinstance(packed, bytes) else b"", random, words),
                *told.split("/"),
                filename=part.get_filename(),
            )
    return made.as_bytes(policy=email.policy.compat32)


def _mails(content: bytes, random: Random, words: Words) -> bytes:
    mails = re.split(rb"(?m)^(?=From )", content)
    at = random.randrange(len(mails))
    first, _, rest = mails[at].partition(b"\n")
    mails[at] = first + b"\n" + _mail(rest, random, words)
    random.shuffle(mails)
    return b"".join(mails)


def _json(content: bytes, random: Random, _: Words) -> bytes:
    tree = json.loads(content)
    changed_tree(tree, random)
    return json.dumps(tree, ensure_ascii=random.random() < 0.5).encode(errors="surrogatepass")


def _json_lines(content: bytes, random: Random, words: Words) -> bytes:
    lines = content.splitlines()
    for _ in range(random.choice(_TIMES)):
        at = random.randrange(len(lines))
        lines[at] = _json(lines[at], random, words)
    return b"\n".join(lines)


def _delimited(content: bytes, random: Random, words: Words) -> bytes:
    """Cells and lines: more or fewer than the header names, names twice or none, quotes that open and don't close."""
    separator = max(b",;\t", key=lambda byte: content.count(bytes([byte])))
    lines = [line.split(bytes([separator])) for line in content.splitlines()]
    for _ in range(random.choice(_TIMES)):
        line, chance = random.choice(lines[:1] if random.random() < 0.3 else lines), random.random()
        at = random.randrange(len(line) + 1)
        if chance < 0.4:
            line[at : at + 1] = [random.choice((*words, *(text.encode() for text in _TEXTS), b"", *line))]
        elif chance < 0.5:
            line[at:at] = [random.choice([b"", *line])] * random.choice((1, 3, 200))
        elif chance < 0.6:
            del line[at:]
        elif chance < 0.7:
            lines.insert(random.randrange(len(lines)), random.choice([[], [b""], line]))
        elif chance < 0.8:
            del lines[random.randrange(len(lines)) :]
            lines.append(line)
        elif chance < 0.9:
            line[at : at + 1] = [b'"' + random.choice((*words, b"x\ny")) + random.choice((b'"', b"", b'""'))]
        else:
            lines[:] = [[*each[:at], random.choice(_TEXTS).encode(), *each[at + 1 :]] for each in lines]
    return (
        random.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r")).join(bytes([separator]).join(line) for line in lines)
        + b"\n"
    )


def _html(content: bytes, random: Random, words: Words) -> bytes:
    tokens = re.split(rb"(<[^>]*>)", content)
    for _ in range(random.choice(_TIMES)):
        at, chance = random.randrange(len(tokens)), random.random()
        if chance < 0.3:
            del tokens[at : at + random.choice((1, 1, 4))]
        elif chance < 0.6:
            tokens[at:at] = [random.choice(tokens)] * random.choice((1, 2, 500))
        elif chance < 0.8:
            tokens[at:at] = [
                random.choice(
                    (*words, b"<svg><style>", b"<textarea>", b"<template>", b"<table><p>", b"<math><mi>", b"<a b='")
                )
            ]
        else:
            tokens[at] = mutated(tokens[at], random, words)
    return b"".join(tokens)


def _yaml(content: bytes, random: Random, _: Words) -> bytes:
    return mutated_tree(content, random)


def _policy(content: bytes, random: Random, _: Words) -> bytes:
    """With what the schema allows; sometimes with what it doesn't."""
    if random.random() < 0.25 or b"attributes:" not in content:
        return mutated_tree(content, random)
    made = generated(content, random)
    return mutated_tree(made, random) if random.random() < 0.15 else made


STRUCTURES: Final[dict[str, Structural]] = {
    **dict.fromkeys(("xlsx", "docx", "workbook"), _archive),
    "parquet": _parquet,
    **dict.fromkeys(("arrow", "ipc"), _words_of_memory),
    "sqlite": _sqlite,
    "pdf": _pdf,
    "eml": _mail,
    "mbox": _mails,
    **dict.fromkeys(("json", "manifest"), _json),
    **dict.fromkeys(("jsonl", "lines"), _json_lines),
    **dict.fromkeys(("csv", "tsv", "cells", "hierarchy"), _delimited),
    "html": _html,
    "policy": _policy,
    "recognisers": _yaml,
}
"""Plain text has no structure."""
