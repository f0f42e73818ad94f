"""Scrubbing: nothing that is recognised stays, nothing else changes, and twice is the same as once."""

from __future__ import annotations

import datetime
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import verhoeff
from tests.text.known_forms import FORMS, annotator

from shoal.crypto import Key
from shoal.errors import InputError
from shoal.pseudonyms.date_shifts import days_for
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.scrub.age_ranges import generalised_age
from shoal.scrub.choices import chosen_types
from shoal.scrub.coreference import mention_of, resolve_people
from shoal.scrub.date_shift import shifted_date
from shoal.scrub.outcome import ScrubAction
from shoal.scrub.scrubber import Scrubber
from shoal.scrub.surrogates import NUMBERS, is_surrogate_number

pytestmark = pytest.mark.requirement("X-02")

MODES = ["label", "mask", "pseudonym"]
SENTENCE = "Dr. Asha Rao, 34 years old, wrote to Ravi Lim on 5 March 2024. Call +91 98765 43210 or asha@clinic.in."
VALUES = st.sampled_from(
    [
        "Asha Rao", "Dr. Rao", "Rao", "Ravi Lim", "Zoë Phang", "Wei Ling O'Brien", "Mr Lim's", "A. Rao",
        "asha@clinic.in", "+65 9123 4567", "2345 6789 0124", "S1234567D", "AC-12345", "2024-02-29", "3/4/2021",
        "17 April 1999", "some day", "34 years old", "97-year-old", "aged 5", "12 Hill Road,\nPune", "98 Canal Street",
    ]
)  # fmt: skip
FILLER = st.sampled_from(
    [
        "wrote to",
        "and",
        "–",
        "\n",
        "is",
        "(",
        ")",
        "[PERSON]",
        "Kumar",
        "***",
        "30–39",
        "°",
        "x",
        "  ",
        ",",
        "日本",
        "😀",
        "[X]",
    ]
)
TEXTS = st.lists(st.one_of(VALUES, FILLER), max_size=12).map(" ".join)


def scrubber(replace="label", seed=1, **choices) -> Scrubber:
    return Scrubber(annotator(), replace, RunSecrets(Randomness(seed)), **choices)


def text_of(text: str, replace="label", **choices) -> str:
    return scrubber(replace, **choices).scrub(text).text


@pytest.mark.parametrize("replace", MODES)
@given(text=TEXTS)
@settings(max_examples=100)
def test_twice_is_the_same_as_once(replace, text):
    worker = scrubber(replace)
    once = worker.scrub(text).text
    again = worker.scrub(once)
    assert again.text == once


@pytest.mark.parametrize("replace", ["label", "mask"])
@given(text=TEXTS)
@settings(max_examples=100)
def test_nothing_that_was_recognised_is_recognised_after(replace, text):
    done = text_of(text, replace)
    left = [done[span.start : span.end] for span in annotator().annotate(done)]
    assert left == []


@given(text=TEXTS)
@settings(max_examples=100)
def test_with_stand_ins_nothing_else_is_recognised_after(text):
    done = scrubber("pseudonym").scrub(text)
    rest = list(done.text)
    for action in done.actions:
        rest[action.new_start : action.new_end] = "_" * (action.new_end - action.new_start)
    assert annotator().annotate("".join(rest)) == []


@given(text=TEXTS, char=st.sampled_from("*x█"))
@settings(max_examples=100)
def test_masks_keep_length_lines_and_everything_else(text, char):
    done = scrubber("mask", char=char).scrub(text)
    assert len(done.text) == len(text)
    assert [place for place, one in enumerate(done.text) if one in "\r\n"] == [
        place for place, one in enumerate(text) if one in "\r\n"
    ]
    hidden = {place for action in done.actions for place in range(action.start, action.end)}
    assert all(done.text[place] == text[place] for place in range(len(text)) if place not in hidden)
    assert all(done.text[place] in f"{char}\n" for place in hidden)


@pytest.mark.parametrize("replace", MODES)
@given(text=TEXTS)
@settings(max_examples=100)
def test_actions_tell_the_places_before_and_after_and_the_rest_is_untouched(replace, text):
    done = scrubber(replace).scrub(text)
    before = after = 0
    for action in done.actions:
        assert text[before : action.start] == done.text[after : action.new_start]
        before, after = action.end, action.new_end
    assert text[before:] == done.text[after:]
    assert text.count("\n") == done.text.count("\n")


def test_actions_hold_no_value():
    done = scrubber().scrub(SENTENCE)
    told = repr(done.actions) + repr([action.to_dict() for action in done.actions])
    assert done.actions[0] == ScrubAction(0, 12, 0, 8, "person")
    assert all(word not in told for word in ("Asha", "Rao", "clinic", "98765"))
    assert done.counts == {"person": 2, "age": 1, "date": 1, "phone": 1, "email": 1}


def test_labels():
    assert text_of(SENTENCE) == "[PERSON], [AGE], wrote to [PERSON] on [DATE]. Call [PHONE] or [EMAIL]."


def test_what_a_label_brings_to_light_goes_too():
    """Beside a label, the test's finder takes any capitalised word for a name: it is found in the second round only."""
    done = scrubber().scrub("Asha Rao Kumar came")
    assert done.text == "[PERSON] [PERSON] came"
    assert [(action.start, action.end) for action in done.actions] == [(0, 8), (9, 14)]


def test_mask_of_one_length_hides_how_long_a_name_is():
    assert text_of("Asha Rao met Lim", "mask", keep_length=False) == "***** met *****"


def test_only_some_types():
    assert text_of(SENTENCE, types=frozenset({"email"})) == SENTENCE.replace("asha@clinic.in", "[EMAIL]")


def test_what_could_not_be_checked_is_replaced_whatever_types_are_asked_for():
    class Unsure:
        def annotate(self, text):
            from shoal.text.spans import Span

            return [Span(0, 4, "unchecked", 1.0, "test")] if text.startswith("1234") else []

    assert Scrubber(Unsure(), types=frozenset({"email"})).scrub("1234 is it").text == "[UNCHECKED] is it"


@pytest.mark.parametrize("replace", ["label", "pseudonym"])
def test_a_type_that_nobody_knows_is_told_as_other_and_the_label_is_left_the_next_time(replace):
    from shoal.text.spans import Span

    class Strange:
        def annotate(self, text):
            return [Span(one.start(), one.end(), "locker", 1.0, "t") for one in re.finditer(r"[A-Z]{5,}", text)]

    worker = Scrubber(Strange(), replace)
    done = worker.scrub("locker ABCDE here")
    assert re.fullmatch(r"locker \[OTHER(-\w{6})?\] here", done.text)
    assert done.actions[0].type == "locker"
    assert worker.scrub(done.text).text == done.text


def test_one_person_has_one_stand_in_in_a_document():
    done = text_of("Dr. Asha Rao came. Rao said: A. Rao is Asha. Mr Lim's car, Lim.", "pseudonym")
    names = re.findall(r"(?:Dr\. )?(\w+ \w+)°", done)
    assert len(names) == 6
    assert len(set(names[:4])) == 1
    assert len(set(names[4:])) == 1
    assert names[0] != names[4]
    assert "°'s car" in done


def test_stand_ins_are_the_same_in_every_document_of_a_domain():
    one, other = (text_of(text, "pseudonym") for text in ("Asha Rao is here", "seen: Asha Rao"))
    assert one.removesuffix(" is here") == other.removeprefix("seen: ")
    assert text_of("Asha Rao is here", "pseudonym", domain="others") != one
    assert text_of("Asha Rao is here", "pseudonym", seed=2) != one


@pytest.mark.parametrize(
    ("names", "people"),
    [
        (["Asha Rao", "Ravi Rao", "Rao"], ["asha rao", "ravi rao", "rao"]),
        (["Rao", "Dr. Rao"], ["rao", "rao"]),
        (["Rao, Asha", "Asha K. Rao", "ASHA RAO"], ["asha rao"] * 3),
        (["A. Rao", "Asha Rao", "Anil Rao"], ["a rao", "asha rao", "anil rao"]),
        (["Asha", "Asha Rao", "Asha Lim"], ["asha", "asha rao", "asha lim"]),
        (["Mrs O'Brien's", "Mary O'Brien"], ["mary o'brien"] * 2),
        (["王伟", "42"], ["王伟", ""]),
    ],
)
def test_who_is_who(names, people):
    assert list(resolve_people(names).values()) == people


_NAME_PART = st.sampled_from(["Asha", "A.", "Ravi", "R.", "Rao", "Lim", "L.", "Dr.", "Rao,", "Ärne", "O'Brien"])


@given(st.lists(st.lists(_NAME_PART, max_size=4).map(" ".join), max_size=12))
def test_who_is_who_is_told_as_by_trying_every_pair(names):
    mentions = {name: mention_of(name) for name in names}
    full = {mention.key: mention for mention in mentions.values() if mention.is_full}
    for name, person in resolve_people(names).items():
        mention = mentions[name]
        fitting = [key for key, other in full.items() if not mention.is_full and mention.fits(other)]
        assert person == (fitting[0] if len(fitting) == 1 else mention.key)


def test_numbers_are_nobodys_and_keep_their_form():
    done = text_of("Aadhaar 2345 6789 0124, NRIC S1234567D, +91 98765 43210, a@b.in, AC-12345", "pseudonym")
    found = re.fullmatch(
        r"Aadhaar ([01]\d{3} \d{4} \d{4})°, NRIC (T[5-9]\d{6}[A-Z])°, (\+999\d{10})°, "
        r"([0-9a-z]{26}@example\.org), (\[ACCOUNT-[0-9A-Z]{6}\])",
        done,
    )
    assert found, done
    assert verhoeff.is_valid(found[1].replace(" ", ""))


@pytest.mark.parametrize("kind", sorted(NUMBERS))
def test_stand_ins_of_numbers_are_known_again(kind):
    form = NUMBERS[kind]
    made = form.write(np.linspace(0, form.size - 1, 50).astype(np.int64).clip(0, form.size - 1))
    assert all(is_surrogate_number(value) for value in made)
    assert not any(is_surrogate_number(value + "0") for value in made)


def test_however_a_number_is_written_its_stand_in_is_the_same():
    done = text_of("2345 6789 0124, 2345-6789-0124, 234567890124", "pseudonym")
    assert len({re.sub(r"\D", "", part) for part in done.split(",")}) == 1


def test_a_stand_in_never_shares_a_word_with_the_name():
    for seed in range(60):
        made = text_of("Ravi Lim", "pseudonym", seed=seed)
        assert not {"Ravi", "Lim"} & set(re.findall(r"\w+", made))


def test_a_real_name_with_the_mark_behind_it_is_not_taken_for_ours_unless_it_is_on_the_lists():
    assert "Phang" not in text_of("Zoë Phang°", "pseudonym")


def test_without_a_mark_names_read_smoothly():
    made = text_of("Asha Rao came on 2024-03-05.", "pseudonym", mark="")
    assert re.fullmatch(r"\w+ \w+ came on \d{4}-\d\d-\d\d\.", made)


@pytest.mark.parametrize(
    ("text", "days", "moved"),
    [
        ("2024-02-28", 2, "2024-03-01"),
        ("28/02/2023", 1, "01/03/2023"),
        ("1/2/2024", 30, "2/3/2024"),
        ("12/25/1999", 7, "01/01/2000"),
        ("5 March 2024", -5, "29 February 2024"),
        ("31st Dec 99", 1, "1st Jan 00"),
        ("MAY 5, 2020", 31, "JUNE 5, 2020"),
        ("March 2024", 31, "April 2024"),
        ("2024-03-05T10:20:30Z", 1, "2024-03-06"),
        ("29 February", 1, "1 March"),
    ],
)
def test_dates_are_written_as_they_were(text, days, moved):
    shifted = shifted_date(text, days)
    assert shifted is not None
    assert shifted[0] == moved


@pytest.mark.parametrize("text", ["2024", "some day", "31/31/2020", "30 February 2024", "9999-12-31", ""])
def test_what_is_no_date_is_not_moved(text):
    assert shifted_date(text, 1) is None


@given(st.dates(datetime.date(1902, 1, 1), datetime.date(2100, 1, 1)), st.integers(-365, 365))
def test_a_shift_back_gives_the_date(date, days):
    for form in ("%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%d %B %Y", "%d-%b-%Y", "%B %d, %Y"):
        text = date.strftime(form)
        there = shifted_date(text, days)
        assert there is not None
        assert datetime.datetime.strptime(there[0], form).date() == date + datetime.timedelta(days)  # noqa: DTZ007


def test_dates_of_a_document_are_moved_alike_and_never_by_nothing():
    worker = scrubber("pseudonym")
    first, second = (
        datetime.date.fromisoformat(one)
        for one in re.findall(r"\d{4}-\d\d-\d\d", worker.scrub("2024-01-01 to 2024-01-31", "letter").text)
    )
    assert (second - first).days == 30
    shifts = {days_for(Key(bytes(32)), str(place)) for place in range(12_000)}
    assert shifts == {*range(-365, 366)} - {0}
    assert all(days_for(Key(bytes(32)), str(place), weeks=True) % 7 == 0 for place in range(50))


def test_dates_and_ages_can_be_kept_or_labelled():
    text = "on 2024-03-05, aged 34"
    assert text_of(text, "pseudonym", dates="label", ages="label") == "on [DATE], [AGE]"
    assert text_of(text, "mask", dates="keep", ages="generalise") == "on 2024-03-05, aged 30–39"
    assert text_of("some day", "pseudonym") == "[DATE]"


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("34", "30–39"),
        ("9 years old", "0–9 years old"),
        ("89", "80–89"),
        ("90", "90+"),
        ("119-year-old", "90+-year-old"),
    ],
)
def test_ages_are_told_by_the_decade(text, wide):
    assert generalised_age(text) == wide


@pytest.mark.parametrize("text", ["thirty", "8 months old", "34 or 35", "200", "20241", ""])
def test_what_is_no_plain_age_is_not_generalised(text):
    assert generalised_age(text) is None


def test_a_phone_number_that_looks_like_an_age_range_is_not_spared():
    from shoal.text.spans import Span

    class Phones:
        def annotate(self, text):
            return [Span(one.start(), one.end(), "phone", 1.0, "t") for one in re.finditer(r"\d\d–\d\d–\d\d", text)]

    assert Scrubber(Phones()).scrub("30–39–45").text == "[PHONE]"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "nothing here", "\ud800 broken", "[PERSON] [PERSON-7Q2XK3] [DATE]"])
def test_texts_with_nobody_in_them_stay(text):
    assert text_of(text) == text.replace("\ud800", "\ufffd")


def test_a_word_in_brackets_is_not_taken_for_a_label():
    assert text_of("[Rao] [LIM] Asha") == "[[PERSON]] [LIM] [PERSON]"


@pytest.mark.parametrize(
    "choices", [{"replace": "x"}, {"char": "ab"}, {"char": " "}, {"mark": "a"}, {"dates": "x"}, {"ages": "x"}]
)
def test_wrong_choices_are_refused(choices):
    with pytest.raises(InputError):
        scrubber(**choices)


def test_types_are_checked():
    assert chosen_types("person, email") == {"person", "email"}
    with pytest.raises(InputError, match="did you mean 'person'"):
        chosen_types("persn")


def test_a_scrubber_travels():
    worker = scrubber("pseudonym")
    worker.scrub(SENTENCE)
    assert b"Asha" not in pickle.dumps(worker)
    assert pickle.loads(pickle.dumps(worker)).scrub(SENTENCE) == worker.scrub(SENTENCE)  # noqa: S301
    assert repr(worker.key.material) not in repr(worker)


def test_every_form_of_the_tests_is_found():
    """The properties above would hold of a finder that finds nothing."""
    found = {span.type for span in annotator().annotate(SENTENCE + " AC-12345 S1234567D 2345 6789 0124, 1 Hill Road")}
    assert found == set(FORMS)
