"""broker.cloud_events: what CloudEvents become, and what is said of those that cannot be events here."""

import json
from typing import Any

import pytest

from broker.cloud_events import decode_cloud_batch, decode_cloud_event
from infra.kernel.errors import Refused
from infra.kernel.events import Submission, accept


def cloud(**fields: Any) -> dict[str, Any]:
    known = {"specversion": "1.0", "id": "1", "source": "/players/7", "type": "org.example.play", "subject": "hm://presence/user/bob/"}
    return known | {"data": {"n": 1}} | fields


def decoded(**fields: Any) -> Submission | Refused:
    return decode_cloud_event(json.dumps(cloud(**fields)).encode())


def submitted(**fields: Any) -> Submission:
    found = decoded(**fields)
    assert isinstance(found, Submission)
    return found


def test_a_cloud_event_is_an_event_on_the_topic_that_it_is_about() -> None:
    found = submitted(time="2026-01-01T00:00:00Z", dataschema="https://example.org/play", traceparent="00-1", datacontenttype=None)
    assert (found.topic, found.kind, bytes(found.payload)) == ("hm://presence/user/bob/", "play", b'{"n": 1}')
    accept(found, 1, "unused", 1000)


@pytest.mark.parametrize(("type_", "kind"), [("play", "play"), ("a.b.new-track", "new-track")])
def test_the_kind_is_what_stands_behind_the_last_dot(type_: str, kind: str) -> None:
    assert submitted(type=type_).kind == kind


def test_source_and_id_together_tell_events_apart_whatever_they_are_made_of() -> None:
    ids = [submitted(source=source, id=id_).id for source, id_ in (("a", "bc"), ("ab", "c"), ("a", "c"), ("a/ö", "x" * 500))]
    assert len(set(ids)) == 4
    assert submitted(source="a", id="bc").id == ids[0]
    accept(submitted(source="a/ö", id="\n"), 1, "unused", 1000)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"specversion": "0.3"}, "specversion must be \"1.0\", not '0.3'"),
        ({"subject": ""}, 'it is the topic, such as "hm://presence/user/bob/"'),
        ({"id": ""}, "id"),
        ({"source": 7}, "source"),
        ({"datacontenttype": "text/plain"}, "data must be JSON here"),
    ],
)
def test_what_is_no_event_here_is_told_what_is(fields: dict[str, Any], complaint: str) -> None:
    refused = decoded(**fields)
    assert isinstance(refused, Refused)
    assert refused.code.name == "bad-field"
    assert complaint in refused.reason


def test_an_event_without_data_or_an_attribute_that_it_must_have_is_told_so() -> None:
    for missing, complaint in (("data", "data_base64 is not taken"), ("id", "id"), ("specversion", "specversion")):
        text = json.dumps({name: value for name, value in cloud().items() if name != missing}).encode()
        refused = decode_cloud_event(text)
        assert isinstance(refused, Refused)
        assert complaint in refused.reason


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "application/vnd.example+json", "Application/JSON"])
def test_data_may_be_of_any_kind_of_json(content_type: str) -> None:
    assert submitted(datacontenttype=content_type).kind == "play"


def test_in_a_batch_one_that_is_wrong_spoils_no_other() -> None:
    found = list(decode_cloud_batch(json.dumps([cloud(), cloud(specversion="2"), cloud(id="2")]).encode(), 3))
    assert [isinstance(each, Refused) for each in found] == [False, True, False]


@pytest.mark.parametrize(("body", "code"), [(b"{}", "bad-json"), (b"[1,2,3,4]", "too-large"), (b"[", "bad-json")])
def test_what_is_no_batch_is_refused_as_a_whole(body: bytes, code: str) -> None:
    with pytest.raises(Refused) as refused:
        decode_cloud_batch(body, 3)
    assert refused.value.code.name == code
