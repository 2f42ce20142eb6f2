"""accesspoint.stream_request: what a request for a stream asks for, and what is said of one that asks for nothing."""

import json

import pytest

from accesspoint.point import write_point
from accesspoint.stream_request import stream_request
from infra.kernel.errors import Refused

BOB = "hm://presence/user/bob/"
FEED = "hm://notifications/feed/bjork%new-album/"
POINT = write_point("sto", {7: 3}) or ""


def test_topics_stand_in_one_field_or_in_several() -> None:
    request = stream_request(f"topics={BOB},{FEED.replace('%', '%25')}&topics=hm://x/&token=t&client=tab", {})
    assert (request.topics, request.token, request.client) == ([BOB, FEED, "hm://x/"], "t", "tab")
    assert json.loads(request.hello()) == {"op": "hello", "token": "t", "client": "tab"}
    (ask,) = request.subscribe([], 2)
    assert json.loads(ask) == {"op": "subscribe", "topics": request.topics, "recover": True, "point": None}


def test_who_follows_friends_goes_on_with_those_of_before_in_parts_and_then_follows_all() -> None:
    request = stream_request(f"topics={BOB}&follow=friends&token=t", {b"last-event-id": POINT.encode()})
    asks = [json.loads(ask) for ask in request.subscribe(["x", "y", "z"], 2)]
    assert [(ask["topics"], ask.get("follow"), ask.get("point")) for ask in asks] == [
        ([BOB], None, POINT),
        (["x", "y"], "friends", POINT),
        (["z"], "friends", POINT),
        ([], "friends", None),
    ]
    assert {(ask["op"], ask["recover"]) for ask in asks} == {("subscribe", True)}
    (alone,) = stream_request("follow=friends&token=t", {}).subscribe([], 2)
    assert json.loads(alone) == {"op": "subscribe", "topics": [], "follow": "friends", "recover": True}


def test_a_header_stands_above_the_query() -> None:
    headers = {b"authorization": b"Bearer mine", b"last-event-id": POINT.encode()}
    request = stream_request(f"topics={BOB}&token=other&last_event_id=x", headers)
    assert (request.token, request.point, request.is_lost) == ("mine", POINT, False)
    assert stream_request(f"topics={BOB}&token=t&last_event_id={POINT}", {}).point == POINT


def test_who_comes_back_from_nowhere_is_not_refused_but_lost() -> None:
    request = stream_request(f"topics={BOB}&token=t", {b"last-event-id": b"7"})
    assert (request.point, request.is_lost) == (None, True)
    assert not stream_request(f"topics={BOB}&token=t", {}).is_lost


@pytest.mark.parametrize(
    ("query", "code", "complaint"),
    [
        ("token=t", "bad-field", "say what to follow"),
        ("topics=,&token=t", "bad-field", "say what to follow"),
        ("follow=everybody&token=t", "bad-field", "all that it may be is friends"),
        (f"topics={BOB}", "bad-token", "Authorization: Bearer"),
        (f"topics={BOB}&topic=x&token=t", "bad-field", "'topic'"),
        (f"topics={BOB}&token=t&client={'x' * 129}", "bad-field", "client"),
    ],
)
def test_what_is_wrong_is_said(query: str, code: str, complaint: str) -> None:
    with pytest.raises(Refused, match=complaint) as refused:
        stream_request(query, {})
    assert refused.value.code.name == code
