"""What a stream refuses, before it begins or on the way; and what it only counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.feeds import ListedLog, ListedSink

from shoal.errors import DataError, InputError, PolicyError, ShoalError
from shoal.policy import Policy
from shoal.streaming.request import StreamDelay, StreamRequest, parse_span
from shoal.streaming.run import StreamRun

ATTRIBUTES: dict[str, Any] = {
    "patient": {"role": "direct", "technique": "suppress"},
    "age": {"role": "quasi", "type": "integer", "hierarchy": {"intervals": [10]}},
    "ward": {"role": "quasi", "hierarchy": {"order": {"order": ["A", "B"], "sizes": [2]}}},
    "seen": {"role": "insensitive", "type": "datetime"},
    "cost": {"role": "sensitive", "type": "decimal"},
}
RECORD = {"patient": "p1", "age": 34, "ward": "A", "seen": "2026-03-01T10:00:00", "cost": 12.5}


def policy(attributes: dict[str, Any] | None = None, **more: Any) -> Policy:
    given = {"shoal": 1, "name": "ward", "attributes": {**ATTRIBUTES, **(attributes or {})}, **more}
    return Policy.of({"privacy": [{"k_anonymity": {"k": 2}}], **given})


def flow(chosen: Policy, records: Sequence[dict[str, Any] | None], **more: Any) -> tuple[ListedSink, Any]:
    sink = ListedSink()
    request = StreamRequest(chosen, **more)
    return sink, StreamRun(request, ListedLog([records], 1), sink).execute()


def test_a_field_that_the_policy_does_not_name_stops_the_stream():
    more = {**RECORD, "phone": "98-secret"}
    with pytest.raises(DataError, match="'phone'") as stopped:
        flow(policy(), [RECORD, more])
    assert "98-secret" not in str(stopped.value)


def test_unless_the_policy_suppresses_what_it_does_not_name():
    sink, _ = flow(policy({"*": "suppress"}), [{**RECORD, "phone": "98"}, RECORD])
    assert len(sink.records) == 2
    assert all("phone" not in record for record in sink.records)


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        (None, "unreadable"),
        ({**RECORD, "age": "old-secret"}, "unreadable"),
        ({**RECORD, "age": True}, "unreadable"),
        ({**RECORD, "age": 1 << 70}, "unreadable"),
        ({**RECORD, "age": [34]}, "unreadable"),
        ({**RECORD, "ward": {"name": "A"}}, "unreadable"),
        ({**RECORD, "ward": "\ud800"}, "unreadable"),
        ({**RECORD, "cost": "inf"}, "unreadable"),
        ({**RECORD, "seen": "yesterday"}, "unreadable"),
        ({**RECORD, "ward": "Z"}, "unknown"),
    ],
)
def test_a_bad_record_is_counted_and_nothing_of_it_is_told(record, kind, capfd):
    sink, report = flow(policy(), [RECORD, record, RECORD])
    assert len(sink.records) == 2
    assert getattr(report.counts, kind) == 1
    assert report.counts.read == 3
    assert "".join(capfd.readouterr()) == ""


def test_texts_are_read_as_the_types_that_are_declared():
    texts = {**RECORD, "age": "34", "cost": "12.5"}
    sink, report = flow(policy(), [texts, RECORD])
    assert [(one["age"], one["cost"]) for one in sink.records] == [("34", 12.5)] * 2
    assert report.counts.unreadable == 0


def test_a_missing_value_is_a_group_of_its_own():
    lone = {name: value for name, value in RECORD.items() if name != "ward"}
    sink, _ = flow(policy(), [RECORD, RECORD, lone, lone])
    assert sorted(str(one["ward"]) for one in sink.records) == ["A", "A", "None", "None"]


@pytest.mark.requirement("L-05")
def test_late_records_are_left_out():
    def at(minute: int) -> dict[str, Any]:
        return {**RECORD, "seen": f"2026-03-01T10:{minute:02}:00"}

    records = [at(0), at(30), at(25), at(15), at(20), at(31)]
    for reads in (1, 3, 6):
        sink = ListedSink()
        request = StreamRequest(policy(), event_time="seen", late=600.0)
        counts = StreamRun(request, ListedLog([records], reads), sink).execute().counts
        assert counts.late == 1
        assert at(15)["seen"] not in {record["seen"] for record in sink.records}
        assert len(sink.records) == 5


def test_a_delay_in_time_goes_by_the_watermark():
    """Nobody reads a clock: the second record leaves alone because the third is an hour younger."""

    def at(hour: int, ward: str) -> dict[str, Any]:
        return {**RECORD, "seen": f"2026-03-01T{hour:02}:00:00", "ward": ward, "age": 20 + hour}

    records = [at(1, "A"), at(2, "A"), at(3, "A"), at(4, "A"), at(5, "A")]
    sink, _ = flow(policy(), records, event_time="seen", delay=StreamDelay(100, seconds=3600.0))
    assert [len(commit) for commit in sink.commits][:1] == [2]


REFUSED = [
    ({"sample": {"fraction": 0.5}}, "whole table"),
    ({"privacy": [{"t_closeness": {"attribute": "cost", "t": 0.2, "distance": "equal"}}]}, "t_closeness"),
    ({"privacy": [{"k_anonymity": {"k": 2, "attributes": ["age"]}}]}, "k_anonymity"),
    ({"rules": [{"name": "ages", "never": "age > 200"}]}, "rules"),
    ({"solve": {"decoys": {}}}, "decoys"),
    ({"person": "somebody"}, "somebody"),
    ({"attributes": {"age": {**ATTRIBUTES["age"], "type": "text"}}}, "intervals works on"),
    ({"attributes": {"ward": {"role": "quasi", "hierarchy": {"redact": {}}}}}, "steps"),
    ({"attributes": {"ward": {"role": "quasi", "hierarchy": "rare"}}}, "depend on the data"),
    ({"attributes": {"cost": {**ATTRIBUTES["cost"], "technique": "permute"}}}, "permute"),
    (
        {"attributes": {"cost": {**ATTRIBUTES["cost"], "technique": {"code": {"top_quantile": 0.9}}}}},
        "count the whole table",
    ),
    (
        {"attributes": {"patient": {"role": "direct", "technique": "pseudonymise"}}},
        "all their classes have in common",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given", "told"), REFUSED)
def test_what_has_no_meaning_without_an_end_is_refused(given, told):
    with pytest.raises(ShoalError, match=told):
        flow(policy(**given), [RECORD])


def test_all_that_is_refused_is_said_at_once():
    chosen = policy(sample={"fraction": 0.5}, rules=[{"name": "ages", "never": "age > 200"}])
    with pytest.raises(PolicyError) as refused:
        flow(chosen, [RECORD])
    assert len(refused.value.problems) == 2


def test_records_without_classes_are_passed_on_treated():
    attributes = {
        "patient": {"role": "direct", "technique": {"pseudonymise": {"domain": "patients"}}},
        "note": {"role": "insensitive", "technique": {"mask": {"keep_last": 2}}},
    }
    chosen = Policy.of({"shoal": 1, "name": "feed", "attributes": attributes})
    sink, _ = flow(chosen, [{"patient": f"p{number}", "note": "abcd"} for number in range(3)])
    assert len({record["patient"] for record in sink.records}) == 3
    assert {record["note"] for record in sink.records} == {"**cd"}


def test_an_identifier_that_nothing_is_done_to_is_refused_before_anything_leaves():
    attributes = {"patient": {"role": "direct", "technique": {"mask": {"keep_last": 7}}}}
    sink = ListedSink()
    request = StreamRequest(Policy.of({"shoal": 1, "name": "feed", "attributes": attributes}))
    with pytest.raises(DataError, match="direct identifier"):
        StreamRun(request, ListedLog([[{"patient": "Asha Rao"}]]), sink).execute()
    assert sink.commits == []


def test_records_are_left_out_by_rule():
    chosen = policy(suppress_records={"where": "age > 90"})
    sink, report = flow(chosen, [RECORD, {**RECORD, "age": 95}, RECORD])
    assert len(sink.records) == 2
    assert report.counts.excluded == 1


@pytest.mark.parametrize("text", ["", "soon", "0", "-1", "1.5", "5000,soon", "99999999999"])
def test_a_delay_that_is_none_is_refused(text):
    with pytest.raises(InputError):
        StreamDelay.parse(text)


def test_a_length_of_time_has_a_unit():
    assert parse_span("250ms", "late") == 0.25
    with pytest.raises(InputError):
        StreamRequest(policy(), late=5.0)
