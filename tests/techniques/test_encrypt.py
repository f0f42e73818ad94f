"""Encryption of an attribute: keys that last, ciphertexts that lead back, and nothing that passes unencrypted."""

from __future__ import annotations

import datetime
import pickle
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.crypto import Key
from shoal.errors import AccessError, DataError, InputError, PolicyError
from shoal.policy import Policy
from shoal.pseudonyms.formats.base import PseudonymFormat
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques import Context, Lowers, techniques
from shoal.techniques.cryptographic.encryption.encrypt import FACTS, TAKES, Encrypt, EncryptionScheme

NAME = Column("value", rows=3)
KEY_HEX = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
MADE_HERE = (EncryptionScheme.DETERMINISTIC, EncryptionScheme.FORMAT_PRESERVING)
CARDS = st.text("0123456789 -", max_size=12).map(lambda text: f"{text}123456")


class Kept:
    """Keys that last, as a vault keeps them."""

    lasting: ClassVar[bool] = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def key(self, domain: str, purpose: str) -> Key:
        self.asked.append((domain, purpose))
        return Key(bytes(32)).derive(domain, purpose)

    def issue(self, domain: str, values: pl.Series, form: PseudonymFormat) -> pl.Series:
        raise AssertionError("encryption issues no pseudonyms")

    def remember(self, domain: str, pseudonyms: pl.Series, values: pl.Series) -> None:
        raise AssertionError("encryption issues no pseudonyms")


def context(secrets: Kept | RunSecrets | None = None) -> Context:
    return Context({}, Randomness(0).stream("encrypt"), secrets=secrets or Kept())


def run(technique: Encrypt, values: pl.Series, column: Column = NAME) -> pl.Series:
    """Through a pickle, as on the way to an executor; the empty frame must promise the same schema."""
    frame = pl.DataFrame({"value": values, ROW: pl.Series(range(len(values)), dtype=pl.UInt64)})
    assert technique.refuse(column) is None
    bound = technique.bind(column, context())
    step = pickle.loads(pickle.dumps(bound))  # noqa: S301  # our own bytes
    assert step == bound
    applied = step.apply(frame)
    assert step.reads == ("value",)
    assert step.apply(frame.clear()).schema == applied.schema
    assert applied.schema["value"] == technique.leaves(column).storage == pl.String()
    return applied["value"]


def texts(values: list[str] | list[str | None]) -> pl.Series:
    return pl.Series("value", values, dtype=pl.String)


def encryption(**parameters: object) -> Encrypt:
    return Encrypt.model_validate(parameters)


@pytest.mark.requirement("T-19")
@given(values=st.lists(st.none() | st.text(max_size=30), max_size=20))
@settings(max_examples=40)
def test_deterministic_equal_values_stay_equal_and_lead_back(values: list[str | None]) -> None:
    technique = encryption(scheme="deterministic")
    encrypted = run(technique, texts(values))
    pairs = set(zip(values, encrypted.to_list(), strict=True))
    assert len(pairs) == len(set(values)) == encrypted.n_unique()
    assert not set(values) & set(encrypted.drop_nulls())
    assert technique.undo("value", encrypted, Kept()).equals(texts(values))


@pytest.mark.requirement("T-21")
@given(values=st.lists(st.none() | CARDS, max_size=20))
@settings(max_examples=40)
def test_format_preserving_keeps_the_form_and_leads_back(values: list[str | None]) -> None:
    technique = encryption(scheme="format_preserving")
    encrypted = run(technique, texts(values))
    forms = str.maketrans("123456789", "0" * 9)
    for before, after in zip(values, encrypted.to_list(), strict=True):
        assert (before is None and after is None) or before.translate(forms) == after.translate(forms)  # type: ignore[union-attr]
    assert encrypted.n_unique() == len(set(values))
    assert technique.undo("value", encrypted, Kept()).equals(texts(values))


@pytest.mark.parametrize(
    ("alphabet", "value", "stays"),
    [
        ("digits", "S1234567D", {0: "S", 8: "D"}),
        ("letters", "Asha Patil-Rao", {4: " ", 10: "-"}),
        ("alphanumeric", "AB-1234-xy", {2: "-", 7: "-"}),
        ("01", "0110x01101101101101101101", {4: "x"}),
        ("कखगघङचछजझञ", "कखगघङच/छजझञ", {6: "/"}),
    ],
)
@pytest.mark.requirement("T-21")
def test_alphabets(alphabet: str, value: str, stays: dict[int, str]) -> None:
    technique = encryption(scheme="format_preserving", alphabet=alphabet)
    (encrypted,) = run(technique, texts([value]))
    assert encrypted != value
    assert len(encrypted) == len(value)
    others = {place: one for place, one in enumerate(encrypted) if one not in technique.characters}
    assert others == stays


@pytest.mark.requirement("T-21")
@pytest.mark.parametrize("position", [0, 250])
def test_a_value_that_is_too_short_stops_the_run(position: int) -> None:
    values = [f"{number:08d}" for number in range(300)]
    values[position : position + 2] = ["98765", "98-76"]
    step = encryption(scheme="format_preserving").bind(NAME, context())
    with pytest.raises(DataError, match=r"column 'value': 2 different value\(s\) have fewer than 6") as told:
        for start in range(0, 300, 100):
            step.apply(pl.DataFrame({"value": values[start : start + 100]}))
    assert "98765" not in str(told.value)
    strict = encryption(scheme="format_preserving", keep_separators=False).bind(NAME, context())
    with pytest.raises(DataError, match=r"column 'value': 1 different value\(s\) have characters outside"):
        strict.apply(pl.DataFrame({"value": ["1234567", "123 4567"]}))


def test_key_tweak_and_scheme_make_other_ciphertexts() -> None:
    value = texts(["1234567890"])
    made = [
        run(encryption(**given), value)[0]
        for given in (
            {"scheme": "format_preserving"},
            {"scheme": "format_preserving", "tweak": "table 2"},
            {"scheme": "format_preserving", "key": "other"},
            {"scheme": "deterministic"},
            {"scheme": "deterministic", "key": "other"},
            {"scheme": "deterministic", "encoding": "hex"},
        )
    ]
    assert len(set(made)) == len(made)
    assert run(encryption(key="value"), value).equals(run(encryption(), value)), "the attribute's name is the default"


@pytest.mark.parametrize("scheme", MADE_HERE)
def test_batches_do_not_matter_and_missing_stays_missing(scheme: EncryptionScheme) -> None:
    values = [None if number % 7 == 0 else f"{number % 30:010d}" for number in range(100)]
    frame = pl.DataFrame({"value": values, ROW: pl.Series(range(100), dtype=pl.UInt64)})
    technique = encryption(scheme=scheme)
    whole = technique.bind(NAME, context()).apply(frame)
    assert whole["value"].is_null().to_list() == [value is None for value in values]
    step = technique.bind(NAME, context())
    for cut in (0, 1, 50, 100):
        assert pl.concat([step.apply(frame[:cut]), step.apply(frame[cut:])]).equals(whole)
    nothing = frame.with_columns(pl.lit(None, pl.String).alias("value"))
    assert step.apply(nothing).equals(nothing)


@pytest.mark.parametrize(
    ("type_", "values", "same"),
    [
        (ValueType.INTEGER, pl.Series([4110051, None]), ["4110051", None]),
        (ValueType.DECIMAL, pl.Series([12345.5, 1234567.0]), ["12345.5", "1234567"]),
        (ValueType.DATE, pl.Series([datetime.date(2024, 2, 14)]), ["2024-02-14"]),
        (ValueType.TEXT, pl.Series(["1234567"], dtype=pl.Categorical), ["1234567"]),
    ],
)
@pytest.mark.parametrize("scheme", MADE_HERE)
def test_other_types_are_encrypted_as_text(
    scheme: EncryptionScheme, type_: ValueType, values: pl.Series, same: list[str | None]
) -> None:
    technique = encryption(scheme=scheme)
    column = Column("value", type_, values.dtype, scale=1, rows=2)
    encrypted = run(technique, values, column)
    assert encrypted.equals(run(technique, texts(same)))
    assert technique.leaves(column) == Column("value", rows=2)


@pytest.mark.requirement("V-05")
def test_a_step_shows_neither_key_nor_value() -> None:
    for scheme in MADE_HERE:
        step = encryption(scheme=scheme).bind(NAME, context())
        step.apply(pl.DataFrame({"value": ["9876543210"]}))
        shown = repr(step) + str(step)
        assert "9876543210" not in shown
        assert "\\x" not in shown
        assert b"9876543210" not in pickle.dumps(step)


def test_the_characters_that_may_stand_are_those_that_do() -> None:
    values = texts([f"{number:010d}" for number in range(2000)])
    for given_ in ({}, {"encoding": "base32"}, {"encoding": "hex"}, {"scheme": "format_preserving"}):
        technique = encryption(**given_)
        assert set("".join(run(technique, values))) == technique.bind(NAME, context()).adds


def test_keys_come_from_the_vault_by_name() -> None:
    secrets = Kept()
    encryption().bind(Column("Mobile number"), context(secrets))
    encryption(key="people").bind(NAME, context(secrets))
    assert secrets.asked == [("mobile_number", "encrypt"), ("people", "encrypt")]
    with pytest.raises(InputError, match="name a `key`"):
        encryption().bind(Column("名前"), context())


@pytest.mark.parametrize("secrets", [None, RunSecrets(Randomness(1))])
def test_a_key_that_is_forgotten_is_refused(secrets: RunSecrets | None) -> None:
    with pytest.raises(InputError, match=r"forgotten with this run.*with vault"):
        encryption(key="people").bind(NAME, Context({}, Randomness(0).stream("x"), secrets=secrets))


@pytest.mark.parametrize("held", [bytes.fromhex(KEY_HEX), KEY_HEX.encode(), f"{KEY_HEX.upper()}\n".encode()])
def test_a_key_file_is_raw_or_hexadecimal_and_needs_no_vault(tmp_path: Path, held: bytes) -> None:
    (tmp_path / "people.key").write_bytes(held)
    technique = encryption(key="file:people.key").resolve(tmp_path)
    without = Context({}, Randomness(0).stream("x"), secrets=RunSecrets(Randomness(1)))
    frame = pl.DataFrame({"value": ["Asha"]})
    (made,) = technique.bind(NAME, without).apply(frame)["value"]
    assert technique.undo("value", texts([made]), None).to_list() == ["Asha"]
    (tmp_path / "raw").write_bytes(bytes.fromhex(KEY_HEX))
    raw = encryption(key=f"file:{tmp_path / 'raw'}")
    assert raw.resolve(Path("/elsewhere")).bind(NAME, without).apply(frame)["value"].to_list() == [made]
    assert technique.model_dump(mode="json", by_alias=True)["key"] == "file:people.key", "no folder in a report"


@pytest.mark.parametrize("held", [b"", b"too short", bytes(33), b"z" * 64, KEY_HEX.encode() * 2])
def test_what_is_no_key_file_is_refused_and_not_shown(tmp_path: Path, held: bytes) -> None:
    (tmp_path / "people.key").write_bytes(held)
    technique = encryption(key="file:people.key").resolve(tmp_path)
    with pytest.raises(AccessError, match=r"'people.key' is no key file") as told:
        technique.bind(NAME, context())
    assert not held or held.decode() not in str(told.value)
    (tmp_path / "people.key").unlink()
    with pytest.raises(AccessError, match=r"'people.key' can't be read: No such file"):
        technique.bind(NAME, context())


@pytest.mark.requirement("V-05")
@pytest.mark.parametrize("key", [KEY_HEX, KEY_HEX[:32], f"0x{KEY_HEX}", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="])
def test_a_key_in_the_policy_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValidationError, match="can't stand in a policy") as told:
        encryption(key=key)
    assert key not in str(told.value)
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        f"shoal: 1\nname: keys\nattributes:\n  name: {{role: direct, technique: {{encrypt: {{key: '{key}'}}}}}}\n"
    )
    with pytest.raises(PolicyError, match="can't stand in a policy") as refused:
        Policy.load(policy)
    assert key not in str(refused.value)


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"scheme": "rot13"}, "deterministic"),
        ({"alphabet": "digits"}, "scheme deterministic doesn't take alphabet"),
        ({"scheme": "format_preserving", "encoding": "hex"}, "doesn't take encoding"),
        ({"scheme": "format_preserving", "alphabet": "aab"}, "twice"),
        ({"scheme": "format_preserving", "alphabet": "a"}, "from 2 to 256"),
        ({"key": "People"}, "lower-case"),
        ({"key": ""}, "lower-case"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_wrong_parameters(parameters: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        encryption(**parameters)


@pytest.mark.requirement("T-29")
def test_a_boolean_has_no_format_to_keep() -> None:
    flag = Column("smokes", ValueType.BOOLEAN, pl.Boolean())
    assert "'smokes' has two values" in (encryption(scheme="format_preserving").refuse(flag) or "")
    assert encryption().refuse(flag) is None


@pytest.mark.requirement("T-28")
def test_facts_are_the_lines_of_table_a1() -> None:
    assert techniques.get("encrypt") is Encrypt
    assert Encrypt.facts is FACTS[EncryptionScheme.DETERMINISTIC]
    for scheme in EncryptionScheme:
        facts = encryption(scheme=scheme).facts
        assert facts.truthful
        linking = Lowers.NO if scheme is EncryptionScheme.HOMOMORPHIC else Lowers.PARTIALLY
        assert (facts.singling_out, facts.linking, facts.inference) == (Lowers.NO, linking, Lowers.NO)
    clauses = [FACTS[scheme].clause.rsplit(" ", 1)[1] for scheme in sorted(EncryptionScheme)]
    assert clauses == ["9.2.2", "9.2.4", "9.2.5", "9.2.3"]
    assert set(TAKES) == set(EncryptionScheme)
