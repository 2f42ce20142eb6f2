"""What presence makes of actions, and what it keeps."""

import json
import random
from typing import Any

import pytest

from infra.kernel.errors import Refused
from infra.kernel.topics import user_topic
from services.presence.core import ACTIONS, PresenceCore


def act(core: PresenceCore, user: str, ts_ms: int = 1, **fields: object) -> dict[str, object]:
    """Returns the event that an action of `user` at `ts_ms` makes, as clients will see it."""
    message = json.dumps({"op": "act", "id": 1, "kind": "play", **fields}).encode()
    found: dict[str, object] = json.loads(b"{" + core.act(user, message, ts_ms).tail)
    return found


def make(max_users: int = 100) -> PresenceCore:
    return PresenceCore("p", 200, max_users)


def test_the_newest_event_of_each_user_is_kept_and_no_other() -> None:
    """SB-29: over random actions of random users."""
    rng, core, newest = random.Random(29), make(), dict[str, dict[str, object]]()
    for n in range(2000):
        user = f"u{rng.randrange(20)}"
        newest[user] = act(core, user, n, kind=rng.choice(ACTIONS), n=n)
        assert len(core.last) == len(newest)
    assert {user: json.loads(b"{" + event.tail) for user, event in core.last.items()} == newest
    assert core.actions.total() == 2000


def test_the_tails_of_users_are_those_of_their_last_events_and_empty_for_those_without() -> None:
    core = make()
    act(core, "ann", 1)
    newest = act(core, "ann", 2)
    nobody, ann = core.tails(["bob", "ann"])
    assert (nobody, json.loads(b"{" + ann)) == (b"", newest)


def test_when_there_are_too_many_users_the_one_heard_longest_ago_is_forgotten() -> None:
    """SB-29: memory is bounded."""
    core = make(max_users=3)
    for user in ("ann", "bob", "cyd", "ann", "dan"):
        act(core, user)
    assert list(core.last) == ["cyd", "ann", "dan"]


@pytest.mark.parametrize("kind", ACTIONS)
def test_an_action_becomes_an_event_on_its_users_topic_with_all_but_our_own_fields_as_payload(kind: str) -> None:
    core = make()
    event = act(core, "ann", 42, kind=kind, track="Svefn-g-englar", more={"a": [1, None]})
    assert event == {
        "topic": "hm://presence/user/ann/",
        "ts": 42,
        "id": "p-1",
        "kind": kind,
        "payload": {"track": "Svefn-g-englar", "more": {"a": [1, None]}},
    }
    assert core.last["ann"].topic == user_topic("ann")


@pytest.mark.parametrize(("fields", "code"), [({"kind": "dance"}, "bad-field"), ({"kind": "play", "text": "x" * 300}, "too-large")])
def test_an_action_that_is_wrong_is_refused_and_leaves_the_last_one_in_place(fields: dict[str, Any], code: str) -> None:
    core = make()
    before = act(core, "ann", n=1)
    with pytest.raises(Refused, match=code):
        act(core, "ann", **fields)
    assert json.loads(b"{" + core.last["ann"].tail) == before
    assert core.actions.total() == 1


def test_ids_of_events_are_all_different() -> None:
    core = make()
    assert len({act(core, user)["id"] for user in ("ann", "bob", "ann", "ann")}) == 4
