"""Organisations by legal form, kind and context."""

from __future__ import annotations

import pytest
from tests.text.finding import found, values

from shoal.text.lexicon.capitalised_runs import runs_in
from shoal.text.organisation_names.finder import organisations
from shoal.text.person_names.finder import persons

pytestmark = pytest.mark.requirement("D-03", "X-01")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("An invoice of Infosys Ltd came.", "Infosys Ltd"),
        ("An invoice of Aunt Bertha Inc. came.", "Aunt Bertha Inc."),
        ("the firm Müller & Söhne GmbH", "Müller & Söhne GmbH"),
        ("She studied at the University of Klagenfurt.", "University of Klagenfurt"),
        ("He has an account at DBS Bank.", "DBS Bank"),
        ("heard by the Lubań District Court", "Lubań District Court"),
        ("I work for Xignite.", "Xignite"),
        ("Russell Plotwatt is a design agency.", "Russell Plotwatt"),
        ("He is from Hawkins, Richardson and Santana", "Hawkins, Richardson and Santana"),
        ("the merger with Antelami, Ovadia e Fittipaldi s.r.l. failed", "Antelami, Ovadia e Fittipaldi s.r.l."),
        ("Invoice of Rossi SA for parts", "Rossi SA"),
        ("Invoice of Jacques De Sousa S.A. for parts", "Jacques De Sousa S.A."),
        ("Die Graf Zänker e.V. hat geschrieben.", "Graf Zänker e.V."),
        ("When will Obratov & Daughters deliver?", "Obratov & Daughters"),
        ("Das Landgericht Kassel hat entschieden.", "Landgericht Kassel"),
        ("Elle est soignée à la Clinique Pasteur.", "Clinique Pasteur"),
        ("He plays for FC Navarra on weekends.", "FC Navarra"),
        ("We flew with Deutsche Lufthansa and Air France.", "Air France"),
    ],
)
def test_organisations_are_found(text: str, name: str) -> None:
    assert name in values(text, "organisation")


@pytest.mark.parametrize(
    "text",
    ["The Regional Court agreed.", "The Government replied.", "Our office is open.", "the company", "", "Dear Sir"],
)
def test_what_every_country_has_is_left(text: str) -> None:
    assert values(text, "organisation") == []


def test_an_officer_is_not_part_of_the_body() -> None:
    assert values("The Dean of Klagenfurt University left.", "organisation") == ["Klagenfurt University"]


def test_an_organisation_holds_its_town() -> None:
    assert found("the Istanbul Chamber of Commerce", "organisation", "place") == [
        ("organisation", "Istanbul Chamber of Commerce")
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I have a job interview at Nordwind tomorrow.", "Nordwind"),
        ("I work at Kraus since 2019.", "Kraus"),
        ("The Brightwater account is overdue.", "Brightwater"),
        ("The Golden Anchor account is overdue.", "Golden Anchor"),
        ("A former Zelvex manager and the Zelvex headquarters", "Zelvex"),
        ("Nordwind announced record profits.", "Nordwind"),
        ("Watts-Doherty has hired a manager.", "Watts-Doherty"),
        ("Shares in Moreau fell.", "Moreau"),
        ("Moreau shares fell.", "Moreau"),
        ("I ordered shoes from Orbiton but never got them", "Orbiton"),
        ("The landlord and our supplier Happy Paws agree.", "Happy Paws"),
        ("Employer: Fresh Start", "Fresh Start"),
        ("Asha Rao, CEO of Cargofy, declined.", "Cargofy"),
        ("Trustwell, founded by Asha Rao, employs many.", "Trustwell"),
        ("Herr Rao arbeitet bei Zanderly.", "Zanderly"),
        ("La empresa Fresh Start contrató a Asha Rao.", "Fresh Start"),
        ("Asha Rao\nDrilling engineer\nMedisphere", "Medisphere"),
        ("i have a job interview at nordwind tomorrow", "nordwind"),
    ],
)
def test_the_words_around_tell_of_a_firm(text: str, name: str) -> None:
    assert name in values(text, "organisation")


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("I work with Daniel Weber on this.", "Daniel Weber"),
        ("I had a call with Weber about it.", "Weber"),
        ("Anna Schmidt is a bank manager.", "Anna Schmidt"),
        ("The Nolan family moved.", "Nolan"),
        ("Olivia at Ernst AG confirmed it.", "Olivia"),
        ("Tom & Susanne are married.", "Susanne"),
    ],
)
def test_a_person_is_no_firm(text: str, person: str) -> None:
    assert person in values(text, "person")
    assert not [value for value in values(text, "organisation") if person in value]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("heard by the District Court in Wodzisław yesterday", "District Court in Wodzisław"),
        ("an appeal to the Supreme Court (Oberster Gerichtshof) failed", "Supreme Court (Oberster Gerichtshof)"),
        ("he was held at Catterick garrison", "Catterick garrison"),
        ("the Social Insurance Authority refused", "Social Insurance Authority"),
        ("the regional health insurance fund (“the CRAM”) refused", "regional health insurance fund"),
        ("the regional health insurance fund (“the CRAM”) refused; the CRAM replied", "CRAM"),
        ("the Chief Executive Officer of Strix Television AB", "Strix Television AB"),
    ],
)
def test_public_bodies(text: str, body: str) -> None:
    assert body in values(text, "organisation")


@pytest.mark.parametrize(
    "text",
    [
        "Der Antrag wurde abgelehnt, weil die Frist abgelaufen war.",
        "Im Winter trinken wir gern Tee mit Honig.",
        "Furthermore, prices have risen.",
        "Please fill in the Tax Return Form.",
        "The Board of Directors meets quarterly.",
        "Skills: Python, Java, Docker, Kubernetes",
        "the Convention for the Protection of Human Rights",
        "The Princess arrived at Riverlea this morning.",
        "does anyone here bank with you?",
        "the outage lasted three hours",
        "PLEASE FILL IN THE FORM AND SEND IT BACK TODAY",
    ],
)
def test_words_that_only_look_like_organisations(text: str) -> None:
    assert values(text, "organisation") == []


@pytest.mark.parametrize(
    "piece", ["The ", "A of ", "Nordwind and ", "CEO of ", "AB & ", "da ", "Board of the ", "Rao, Lim and Tan "]
)
def test_long_runs_are_read_in_linear_time(piece: str) -> None:
    """Work is counted in calls, which don't depend on the machine."""
    calls = [_calls(piece * count) for count in (200, 400, 800)]
    assert calls[2] - calls[1] <= 2.5 * (calls[1] - calls[0]) + 200


def _calls(text: str) -> int:
    from sys import setprofile

    runs = list(runs_in(text))
    counted = 0

    def count(*_: object) -> None:
        nonlocal counted
        counted += 1

    setprofile(count)
    try:
        list(organisations(text, runs))
        list(persons(text, runs))
    finally:
        setprofile(None)
    return counted


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Why is Cooper-Diaz so expensive?", "Cooper-Diaz"),
        ("We regret that Perez, Moreno and Odonnell overcharged you.", "Perez, Moreno and Odonnell"),
        ("The CEO of Alvarez, Pena and Cardenas resigned.", "Alvarez, Pena and Cardenas"),
        ("The merger between Hendrix PLC and Baker-Woodard was approved.", "Baker-Woodard"),
        ("Toyota announced record profits.", "Toyota"),
        ("I bought these shoes from Patently and they fell apart.", "Patently"),
        ("Rates are rated by Moody's today.", "Moody's"),
        ("Asha Rao (Roofstock) will join the call.", "Roofstock"),
        ("Regards,\nDataforge", "Dataforge"),
        ("Cambridge Bionetworks\n12 High Street", "Cambridge Bionetworks"),
    ],
)
def test_firms_called_after_their_founders_and_made_up_names(text: str, name: str) -> None:
    assert name in values(text, "organisation")


@pytest.mark.parametrize(
    "text",
    [
        "Smith, Jones and Brown are friends of mine.",
        "Our three founders: Becker, Vasquez and Hodge.",
        "Miller, Garcia and Lopez (2019) show that trust matters.",
        "Jean-Pierre met Anne-Marie.",
        "Mrs. Taylor-Jones agreed.",
        "He paid by Check and for Parking with Cash.",
    ],
)
def test_several_persons_are_no_partners(text: str) -> None:
    assert values(text, "organisation") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("She left Grant, Johnson and Williams for Zelvex Ltd.", "Grant, Johnson and Williams"),
        ("Lopez, Santos and Coleman CEO Asha Rao stepped down.", "Lopez, Santos and Coleman"),
        ("Cooper-Diaz CEO Asha Rao stepped down.", "Cooper-Diaz"),
        ("Could Maxwell-Ortiz please stop calling me?", "Maxwell-Ortiz"),
        ("Lublin-based Zelvex lost a fifth of its value.", "Zelvex"),
        ("Luckily Zelvex Ltd has paid.", "Zelvex Ltd"),
        ("Shareholders of Bell-Lindgren s.c. voted yes.", "Bell-Lindgren s.c."),
        ("Farkas és társa Kht. has paid.", "Farkas és társa Kht."),
        ("He owes Larsen & Søn A/S a lot of money.", "Larsen & Søn A/S"),
        ("Le Roux et Fils has paid.", "Le Roux et Fils"),
        ("Glavan j.d.o.o. has paid.", "Glavan j.d.o.o."),
        ("Suppliers such as Zelvex get paid late.", "Zelvex"),
        ("Sponsors: Zelvex", "Zelvex"),
        ("Laursen ApS and Middleton LLC have merged.", "Laursen ApS"),
        ("Asha Rao (Golden Anchor) will join the call.", "Golden Anchor"),
        ("Bill to\nBrightwater\n12 High Street", "Brightwater"),
        ("We spoke to Zelvex Ltd and Golden Anchor about it.", "Golden Anchor"),
    ],
)
def test_firms_where_little_is_said_of_them(text: str, name: str) -> None:
    assert name in values(text, "organisation")


@pytest.mark.parametrize(
    "text",
    [
        "He rides a Vespa through the desert.",
        "The album Moondance came out last year.",
        "The band wears Stetsons.",
        "Zootown is a film about a rabbit.",
        "Stairway to Heaven lasts eight minutes.",
        "Trading in grain was suspended.",
        "Remind me to buy milk.",
        "John & Harriet Russell are here.",
        "He was born in Catherinefurt.",
    ],
)
def test_things_are_no_firms(text: str) -> None:
    assert values(text, "organisation") == []


def test_a_role_in_brackets_is_not_part_of_the_name() -> None:
    text = "between Zelvex Ltd (the Seller) and Asha Rao (the Buyer)"
    assert found(text, "organisation", "person") == [("organisation", "Zelvex Ltd"), ("person", "Asha Rao")]


def test_a_town_behind_a_firm_is_no_firm() -> None:
    assert found("Zelvex Ltd, Muntendam", "organisation", "place") == [
        ("organisation", "Zelvex Ltd"),
        ("place", "Muntendam"),
    ]


def test_a_word_that_ends_as_towns_do_is_a_place() -> None:
    assert found("I love Catherinefurt.", "organisation", "place", "person") == [("place", "Catherinefurt")]
