"""Pseudonymisation: the same person in every table, unrelated domains, keys that are unique, double coding."""

from __future__ import annotations

import datetime
import pickle
from collections import Counter
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import shoal
from shoal.attack.attacks.pseudonym_attacks import attack_column
from shoal.crypto.passphrase import Effort
from shoal.discover.recognisers import default_recognisers
from shoal.errors import DataError, InputError, PolicyError
from shoal.policy import Policy, warnings_in
from shoal.pseudonyms import Uniqueness, pseudonym_formats
from shoal.pseudonyms.formats.base32 import Base32
from shoal.pseudonyms.formats.integer import Integer
from shoal.pseudonyms.issuance import serials_of
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Counts, ValueType
from shoal.schema.canonical_text import canonical_text
from shoal.techniques.base import Context, Scope, Step
from shoal.techniques.pseudonymisation.pseudonymise import Pseudonymise
from shoal.vault import Passphrase, Vault

pytestmark = pytest.mark.requirement("T-06")

PEOPLE = ["Joe Phang", "Zack Lim", "Eu Cheng San", "Linnie Mok", "Jeslyn Tan", "Chan Siew Lee"]
"""PDPC, Guide to Basic Anonymisation, annex A."""


class Kept(RunSecrets):
    """Stands for a vault: what it is told to remember lasts."""

    lasting = True

    def __init__(self, randomness):
        super().__init__(randomness)
        self.kept = {}

    def remember(self, domain, pseudonyms, values, also=None):
        self.kept[domain] = dict(zip(pseudonyms, values, strict=True))


def table(values, dtype=None) -> pl.DataFrame:
    column = pl.Series("id", values, dtype=dtype)
    return pl.DataFrame([column, pl.Series(ROW, range(len(column)), dtype=pl.UInt64)])


def bound(values, *, dtype=None, secrets=None, seed=3, **parameters) -> Step:
    technique = Pseudonymise.model_validate(parameters)
    frame = table(values, dtype)
    randomness = Randomness(seed)
    counts = {}
    for wanted in technique.wants("id"):
        counted = frame.group_by(wanted, maintain_order=True).agg(pl.len().alias("n"))
        counts[wanted] = Counts.from_frame(counted, wanted, "n")
    context = Context({}, randomness.stream("id"), counts, secrets=secrets or RunSecrets(Randomness(9)))
    return technique.bind(Column("id", storage=frame["id"].dtype), context)


def pseudonyms(values, **given) -> list:
    return bound(values, **given).apply(table(values, given.get("dtype")))["id"].to_list()


KINDS = (  # type: ignore[var-annotated]
    {},
    {"format": "hex", "algorithm": "hmac_sha256"},
    {"format": "email"},
    {"format": "card"},
    {"method": "random"},
    {"method": "random", "format": {"integer": {"digits": 4}}},
    {"method": "random", "format": "nric"},
)


def named(parameters):
    return str(parameters)


@pytest.mark.parametrize("parameters", KINDS, ids=named)
@settings(max_examples=15)
@given(values=st.lists(st.none() | st.text(max_size=4), max_size=30))
def test_equal_values_have_equal_pseudonyms_and_missing_ones_none(parameters, values):
    made = pseudonyms(values, dtype=pl.String, **parameters)
    pairs = set(zip(values, made, strict=True))
    assert all((value is None) == (pseudonym is None) for value, pseudonym in pairs)
    assert len(pairs) == len(set(values)) == len({pseudonym for _, pseudonym in pairs})
    assert not {value for value in values if value} & set(made)


@pytest.mark.parametrize("parameters", KINDS, ids=named)
def test_batches_and_travels_change_nothing(parameters):
    values = [f"person {number % 70}" for number in range(200)] + [None]
    step = bound(values, **parameters)
    whole = step.apply(table(values))
    travelled = pickle.loads(pickle.dumps(step))  # noqa: S301
    parts = [travelled.apply(whole_part) for whole_part in table(values).iter_slices(7)]
    assert pl.concat(parts).equals(whole)
    assert step.apply(table(values)).equals(whole)
    assert travelled == step
    assert step.scope is Scope.ROW
    assert step.reads == ("id",)


@pytest.mark.parametrize("parameters", KINDS, ids=named)
def test_a_column_without_values_stays_so(parameters):
    assert pseudonyms([None, None], dtype=pl.String, **parameters) == [None, None]
    assert pseudonyms([], dtype=pl.String, **parameters) == []


@pytest.mark.requirement("V-04")
@pytest.mark.parametrize("parameters", KINDS, ids=named)
def test_the_same_in_every_table_of_a_domain_and_unrelated_in_another(parameters):
    secrets = RunSecrets(Randomness(1))
    patients = dict(zip(PEOPLE, pseudonyms(PEOPLE, secrets=secrets, domain="patients", **parameters), strict=True))
    visits = [*PEOPLE[::-1], "somebody new", *PEOPLE]
    again = pseudonyms(visits, secrets=secrets, seed=4, domain="patients", **parameters)
    assert again[:6] == [patients[person] for person in PEOPLE[::-1]]
    assert again[6] not in patients.values()
    assert not set(pseudonyms(PEOPLE, secrets=secrets, domain="staff", **parameters)) & set(again)


def test_the_domain_is_the_attribute_unless_it_is_named():
    secrets = RunSecrets(Randomness(1))
    assert pseudonyms(PEOPLE, secrets=secrets) == pseudonyms(PEOPLE, secrets=secrets, domain="id")
    assert Pseudonymise().domain_of("Patient ID") == "patient_id"
    with pytest.raises(InputError, match="name a `domain`"):
        Pseudonymise().domain_of("நோயாளி")


class TestTexts:
    """The person is the same, whatever a table stores the value as."""

    def test_stored_in_another_way(self):
        secrets = RunSecrets(Randomness(1))
        whole = [["7", "12"], [7, 12], [7.0, 12.0], [Decimal("7.00"), Decimal("12.00")]]
        assert len({tuple(pseudonyms(values, secrets=secrets)) for values in whole}) == 1
        days = [datetime.date(2026, 3, 1), datetime.date(1999, 12, 31)]
        assert pseudonyms(days, secrets=secrets) == pseudonyms([day.isoformat() for day in days], secrets=secrets)

    @pytest.mark.parametrize(
        ("values", "texts"),
        [
            (["007", " a", "a "], ["007", " a", "a "]),
            ([7, -3, 2**62], ["7", "-3", str(2**62)]),
            ([7.0, 0.1, -2.5, 1e300], ["7", "0.1", "-2.5", "1e+300"]),
            ([Decimal("1.50"), Decimal("-0.25")], ["1.5", "-0.25"]),
            ([datetime.datetime.fromisoformat("2026-03-01 09:30")], ["2026-03-01T09:30:00"]),
            ([True, False], ["true", "false"]),
        ],
    )
    def test_the_text_of_a_value(self, values, texts):
        assert canonical_text(pl.Series([*values, None])).to_list() == [*texts, None]


class TestMethod:
    def test_random_where_it_has_to_lead_back_and_keyed_otherwise(self):
        assert Pseudonymise().is_keyed
        assert not Pseudonymise(reversible=True).is_keyed
        assert not Pseudonymise(double_coding=True).is_keyed
        assert Pseudonymise(reversible=True, method="keyed").is_keyed

    def test_a_keyed_wide_one_needs_no_pass_over_the_data(self):
        assert Pseudonymise().wants("id") == ()
        assert Pseudonymise(format="card").wants("id") == (("id",),)
        assert Pseudonymise(method="random").wants("id") == (("id",),)

    @pytest.mark.requirement("T-05")
    def test_random_pseudonyms_of_all_values_are_different(self):
        values = [str(number) for number in range(20_000)]
        assert len(set(pseudonyms(values, method="random", format={"integer": {"digits": 5}}))) == 20_000

    @pytest.mark.requirement("T-05")
    def test_a_format_that_is_too_small_is_refused_before_the_run(self):
        with pytest.raises(DataError, match="only 90 values"):
            bound([str(number) for number in range(91)], method="random", format={"integer": {"digits": 2}})

    def test_a_value_that_was_not_counted_stops_the_run_and_is_not_told(self):
        step = bound(["Asha"], method="random")
        with pytest.raises(DataError, match="not there when it was counted") as told:
            step.apply(table(["Ravi"]))
        assert "Ravi" not in str(told.value)

    def test_another_algorithm_gives_other_pseudonyms(self):
        assert not set(pseudonyms(PEOPLE)) & set(pseudonyms(PEOPLE, algorithm="hmac_sha256"))

    def test_whole_numbers_are_released_as_such(self):
        assert all(isinstance(one, int) for one in pseudonyms(PEOPLE, format="integer"))
        left = Pseudonymise(format="integer").leaves(Column("id", rows=3))
        assert (left.type, left.storage, left.rows) == (ValueType.INTEGER, pl.Int64(), 3)
        assert Pseudonymise().leaves(Column("id", ValueType.INTEGER, pl.Int64())).type is ValueType.TEXT


class TestKeys:
    def test_uniqueness_is_declared_before_any_data_is_seen(self):
        assert Pseudonymise().uniqueness is Uniqueness.UNIQUE
        assert Pseudonymise(format="card").uniqueness is Uniqueness.MAY_COLLIDE
        assert Pseudonymise(format="card", method="random").uniqueness is Uniqueness.UNIQUE
        assert Pseudonymise(format="name", method="random").uniqueness is Uniqueness.MAY_COLLIDE

    def test_those_who_share_a_pseudonym_are_counted(self):
        values = [f"person {number}" for number in range(500)]
        step = bound(values, format={"integer": {"digits": 3}})
        assert step.sharing == 500 - len(set(step.apply(table(values))["id"]))  # type: ignore[attr-defined]
        assert step.sharing > 50  # type: ignore[attr-defined]
        assert bound(values, format="card").sharing == 0  # type: ignore[attr-defined]

    def test_a_key_is_never_left_to_luck(self):
        with pytest.raises(DataError, match=r"is a key.*method: random"):
            bound(["a", "b"], format="card", key=True)
        assert bound(["a", "b"], format="card", key=True, method="random").sharing == 0  # type: ignore[attr-defined]
        assert bound(["a", "b"], format="email", key=True)

    def test_a_key_of_the_very_format_is_permuted_within_it(self):
        values = [str(number) for number in range(1000, 10_000)]
        made = pseudonyms(values, format={"integer": {"digits": 4}}, key=True)
        assert sorted(made) == list(range(1000, 10_000))
        assert made != sorted(made)


class TestLeadsBack:
    def test_nothing_leads_back_without_a_vault(self):
        for parameters in ({"reversible": True}, {"reversible": True, "method": "keyed"}, {"double_coding": True}):
            with pytest.raises(InputError, match="without a vault"):
                bound(PEOPLE, **parameters)

    def test_what_derived_pseudonyms_stand_for_is_remembered(self):
        secrets = Kept(Randomness(2))
        made = pseudonyms([*PEOPLE, None], secrets=secrets, method="keyed", reversible=True, domain="drivers")
        assert secrets.kept["drivers"] == dict(zip(made[:-1], PEOPLE, strict=True))

    def test_shared_pseudonyms_lead_to_nobody(self):
        secrets, values = Kept(Randomness(2)), [f"person {number}" for number in range(200)]
        with pytest.raises(DataError, match="share a pseudonym"):
            bound(values, secrets=secrets, method="keyed", reversible=True, format={"integer": {"digits": 3}})
        assert not secrets.kept

    @pytest.mark.parametrize("parameters", [{"reversible": True}, {"double_coding": True}])
    def test_names_lead_to_nobody(self, parameters):
        with pytest.raises(ValidationError, match="none leads back"):
            Pseudonymise(format="name", **parameters)


@pytest.mark.requirement("T-05")
def test_single_coding_of_the_guide():
    """PDPC annex A: six drivers, pseudonyms of six digits, an identity table that the owner keeps."""
    secrets = Kept(Randomness(2))
    made = pseudonyms(PEOPLE, secrets=secrets, reversible=True, format={"integer": {"digits": 6}})
    assert len({str(one) for one in made}) == 6
    assert all(100_000 <= one <= 999_999 for one in made)
    serials = serials_of(secrets.key("id", "issue"), Integer(digits=6), pl.Series(made).cast(pl.String))
    assert sorted(serials) == list(range(6))


def test_formats_of_the_guide():
    """PDPC annex B: e-mail addresses and NRIC numbers become made-up ones of the same format."""
    (address,) = pseudonyms(["John.tan@gmail.com"], format="email")
    assert address.endswith("@example.org")
    (number,) = pseudonyms(["S8822311H"], format="nric", method="random")
    recogniser = next(one for one in default_recognisers() if one.key == "nric")
    assert recogniser.count(pl.Series([number])) == 1


def test_virtual_ids_of_the_guidelines():
    """MeitY tables 2.e to 2.g: an Aadhaar number becomes a virtual ID, the mapping is kept."""
    numbers = ["2345 6789 1234", "4567 8912 3456", "3456 7890 5678"]
    secrets = Kept(Randomness(2))
    made = pseudonyms(numbers, secrets=secrets, method="keyed", reversible=True, format="vid")
    assert secrets.kept["id"] == dict(zip(made, numbers, strict=True))
    assert all(len(one) == 16 and one[0] in "01" for one in made)


@pytest.mark.requirement("T-07")
class TestDoubleCoding:
    """PDPC annex A: a linking table for a third party, an identity table for the owner."""

    def coded(self, seed: int = 3, people: list[str] = PEOPLE, digits: int = 6):
        secrets, form = Kept(Randomness(2)), {"integer": {"digits": digits}}
        step = bound(people, secrets=secrets, seed=seed, domain="drivers", double_coding=True, format=form)
        (beside,) = step.sidecar_files
        released = step.apply(table(people))["id"]
        interim = secrets.issue("drivers", pl.Series(people), Base32())
        identities = dict(zip(interim, people, strict=True))
        return released, beside, identities

    def test_the_tables_have_the_shape_of_the_guide(self):
        released, beside, identities = self.coded()
        assert beside.file == "for-third-party/linking-drivers"
        assert beside.table.columns == ["pseudonym", "interim"]
        assert set(beside.table["pseudonym"]) == set(released)
        assert set(beside.table["interim"]) == set(identities)
        assert not beside.for_recipient
        assert "third party" in beside.about

    def test_both_together_lead_to_each_person(self):
        released, beside, identities = self.coded()
        linking = dict(beside.table.iter_rows())
        assert [identities[linking[pseudonym]] for pseudonym in released] == PEOPLE

    def test_the_linking_table_alone_names_nobody(self):
        """It is the same, letter for letter, for other people."""
        _, beside, _ = self.coded()
        _, others, _ = self.coded(people=[f"other {number}" for number in range(6)])
        assert beside.table.equals(others.table)

    def test_the_vault_alone_knows_no_pseudonym(self):
        """With the same vault and the same people another release has other pseudonyms, in any order."""
        released, beside, _ = self.coded()
        again, beside_it, _ = self.coded(seed=4)
        assert set(beside.table["interim"]) == set(beside_it.table["interim"])
        assert not set(released) & set(again)

    def test_any_person_may_have_any_pseudonym(self):
        """Over many releases the rank of one person's pseudonym is even: chi-square with 5 degrees of freedom."""
        places = Counter(int(self.coded(seed, digits=3)[0].rank().to_list()[0]) for seed in range(300))
        assert sum((places[place] - 50) ** 2 / 50 for place in range(1, 7)) < 20.5

    def test_the_order_tells_nothing(self):
        people = [f"{number:04}" for number in range(2000)]
        released, beside, identities = self.coded(people=people)
        assert beside.table["pseudonym"].is_sorted()
        ranks = [int(identities[code]) for code in beside.table["interim"]]
        assert abs(np.corrcoef(np.arange(2000), ranks)[0, 1]) < 0.08
        assert abs(np.corrcoef(np.arange(2000), released)[0, 1]) < 0.08

    def test_the_release_folder_has_it_beside_the_data(self, tmp_path):
        source, folder = tmp_path / "drivers.csv", tmp_path / "release"
        pl.DataFrame({"id": [*PEOPLE, PEOPLE[2]], "hours": range(7)}).write_csv(source)
        coded = policy("{pseudonymise: {double_coding: true, domain: drivers}}")
        secrets = Kept(Randomness(2))
        shoal.anonymise(source, coded, output=folder, seed=1, vault=secrets)
        linking = pl.read_csv(folder / "for-third-party" / "linking-drivers.csv")
        released = pl.read_csv(folder / "data.csv")
        assert linking.height == 6
        assert released["id"].is_in(linking["pseudonym"].implode()).all()
        people = pl.DataFrame({"interim": secrets.issue("drivers", pl.Series(PEOPLE), Base32()), "person": PEOPLE})
        joined = released.join(linking, left_on="id", right_on="pseudonym").join(people, on="interim").sort("hours")
        assert joined["person"].to_list() == [*PEOPLE, PEOPLE[2]]
        told = (folder / "release.json").read_text()
        assert "for-third-party/linking-drivers.csv" in told
        assert "third-party" not in (folder / "recipient.html").read_text()
        assert not any(person in told for person in PEOPLE)

    def test_it_goes_with_independent_pseudonyms_only(self):
        with pytest.raises(ValidationError, match="independent"):
            Pseudonymise(double_coding=True, method="keyed")


POLICY = """
shoal: 1
name: drivers
{person}
attributes:
  id: {{role: direct, technique: {technique}}}
  hours: {{role: insensitive}}
"""


def policy(technique: str, person: str = "") -> Policy:
    return Policy.from_text(POLICY.format(technique=technique, person=person))


class TestPolicy:
    @pytest.mark.parametrize(
        ("technique", "told"),
        [
            ("{pseudonymise: {format: crad}}", "unknown format 'crad'; did you mean 'card'?"),
            ("{pseudonymise: {format: {integer: {digit: 6}}}}", "unknown parameter 'digit'; did you mean 'digits'?"),
            ("{pseudonymise: {formats: hex}}", "did you mean 'format'?"),
            ("{pseudonymise: {format: {hex: {}, card: {}}}}", "exactly one key"),
            ("{pseudonymise: {domain: Patients}}", "small letters"),
            ("{pseudonymise: {method: hash}}", "keyed"),
            ("{pseudonymise: {format: name, method: random, key: true}}", "people may share"),
            ("{pseudonymise: {format: fin}}", "may_be_issued"),
        ],
    )
    def test_what_is_wrong_is_told_with_its_line(self, technique, told):
        with pytest.raises(PolicyError) as problems:
            policy(technique)
        (problem,) = problems.value.problems
        assert told in problem.message
        assert problem.line == 6

    def test_the_person_never_gets_a_pseudonym_that_others_may_have(self):
        with pytest.raises(PolicyError, match=r"'id' is the person.*method: random or a wide format"):
            policy("{pseudonymise: {format: card}}", "person: id")
        assert policy("{pseudonymise: {format: card, method: random}}", "person: id")
        assert policy("{pseudonymise: {format: email}}", "person: id")
        assert policy("{pseudonymise: {format: card}}")

    def test_one_linking_table_for_each_domain(self):
        twice = "{role: direct, technique: {pseudonymise: {double_coding: true, domain: people}}}"
        with pytest.raises(PolicyError, match="coded twice already"):
            Policy.from_text(f"shoal: 1\nname: t\nattributes:\n  a: {twice}\n  b: {twice}\n")

    def test_what_a_person_should_know(self):
        assert any("same pseudonym (card)" in one for one in warnings_in(policy("{pseudonymise: {format: card}}")))
        known = warnings_in(policy("{pseudonymise: {method: random, format: {fin: {may_be_issued: true}}}}"))
        assert any("real person" in one for one in known)
        assert not any("same pseudonym (" in one for one in warnings_in(policy("pseudonymise")))

    def test_the_json_schema_knows_each_format_as_a_word_and_as_a_key(self):
        kinds = Policy.json_schema()["$defs"]
        words, key = kinds["Pseudonymise"]["properties"]["format"]["anyOf"]
        assert words["enum"] == list(pseudonym_formats.names())
        assert set(kinds[key["$ref"].split("/")[-1]]["properties"]) == set(pseudonym_formats.names())
        assert kinds["Pseudonymise"]["properties"]["format"]["default"] == "base32"
        assert kinds["Integer"]["properties"]["digits"]["maximum"] == 18
        assert "key" in kinds["Pseudonymise"]["properties"]

    def test_a_technique_writes_itself_as_it_was_given(self):
        short = Pseudonymise(format="hex").model_dump(mode="json", exclude_defaults=True, by_alias=True)
        assert short == {"format": "hex"}
        full = Pseudonymise(format=Integer(digits=6), key=True)  # type: ignore[call-arg]
        written = full.model_dump(mode="json", exclude_defaults=True, by_alias=True)
        assert written == {"format": {"integer": {"digits": 6}}, "key": True}
        assert Pseudonymise.model_validate(written) == full


def test_a_release_from_end_to_end():
    people = pl.DataFrame({"id": [*PEOPLE, PEOPLE[0], None], "hours": range(8)})
    release = shoal.anonymise(people, policy("pseudonymise", "person: id"), seed=1)
    made = release.data["id"].to_list()
    assert made[0] == made[6]
    assert made[7] is None
    assert len(set(made[:6])) == 6
    other = shoal.anonymise(people, policy("pseudonymise", "person: id"), seed=2)
    assert not set(other.data["id"].drop_nulls()) & set(made)


@pytest.mark.requirement("T-05", "V-04")
class TestWithAVault:
    @pytest.fixture
    def vault(self, tmp_path):
        way = Passphrase("anita", "anita's long passphrase", Effort(iterations=1, lanes=1, memory_kib=8))
        with Vault.create(tmp_path / "people.vault", way, state=tmp_path / "state") as vault:
            for domain in ("drivers", "staff", "coded"):
                vault.add_domain(domain)
            yield vault

    def released(self, vault, given: str) -> list[str]:
        people = pl.DataFrame({"id": PEOPLE, "hours": range(6)})
        return shoal.anonymise(people, policy(f"{{pseudonymise: {{{given}}}}}"), vault=vault).data["id"].to_list()

    @pytest.mark.parametrize("method", ["keyed", "random"])
    def test_pseudonyms_last_within_the_domain_only(self, vault, method):
        once = self.released(vault, f"domain: drivers, method: {method}")
        assert self.released(vault, f"domain: drivers, method: {method}") == once
        assert not set(self.released(vault, f"domain: staff, method: {method}")) & set(once)

    @pytest.mark.parametrize("method", ["keyed", "random"])
    def test_the_vault_knows_whose_they_are(self, vault, method):
        made = self.released(vault, f"domain: drivers, method: {method}, reversible: true")
        request = vault.ask("drivers", made[:1], "a warning from the study")
        (revealed,) = vault.reveal(request.id)
        assert revealed.value == PEOPLE[0]

    @pytest.mark.requirement("T-07")
    def test_coded_twice_the_vault_knows_interim_codes_only(self, vault):
        made = self.released(vault, "domain: coded, double_coding: true")
        interim = vault.lookup("coded", PEOPLE)
        assert None not in interim
        assert not set(made) & set(interim)
        assert not set(made) & set(self.released(vault, "domain: coded, double_coding: true"))
        assert vault.lookup("coded", PEOPLE) == interim


@pytest.mark.requirement("R-05")
def test_frequencies_still_show():
    """What a pseudonym doesn't hide: the commonest value has the commonest pseudonym."""
    values = [f"city {rank}" for rank in range(12) for _ in range(2 ** (12 - rank))]
    attacks = attack_column(pl.Series("id", pseudonyms(values)), pl.Series("id", values))
    (frequency,) = (attack for attack in attacks if attack.key == "frequency")
    assert frequency.success.share == 1
