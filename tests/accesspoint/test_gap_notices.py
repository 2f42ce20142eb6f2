"""Sessions hear of which of their topics something may be missing."""

from collections.abc import Callable

import pytest

from accesspoint import gap_notices
from accesspoint.gap_notices import GapNotices
from infra.kernel.topics import parse_topic
from tests.support.bare_core import FEEDS, make_core, welcomed
from tests.support.recording_session import RecordingSession

TOPICS = [parse_topic(uri) for uri in FEEDS]


def gaps(session: RecordingSession) -> list[list[str]]:
    return [message["topics"] for message in session.messages if message["op"] == "gap"]


def test_those_who_follow_with_recover_hear_of_their_topics_a_slice_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-8: and nobody else does."""
    monkeypatch.setattr(gap_notices, "LOOKED_AT", 2)
    monkeypatch.setattr(gap_notices, "SESSIONS", 1)
    core, steps = make_core(), list[Callable[[], None]]()
    notices = GapNotices(core.hub, steps.append, lambda session: "p")
    ann, bob, eve = (welcomed(core, name) for name in ("ann", "bob", "eve"))
    for session in (ann, bob, eve):
        core.subscriptions.add(session, TOPICS[:3])
    ann.follows_with_recovery.update(TOPICS[:3])
    eve.follows_with_recovery.update(TOPICS)
    notices.lost(TOPICS[1:], "owner-lost")
    core.subscriptions.drop(eve, TOPICS[2:3])
    notices.lost(TOPICS[:1], "expired")
    turns = 0
    while steps:
        steps.pop(0)()
        turns += 1
    assert turns > 3
    assert sorted(gaps(ann)) == [[FEEDS[0]], FEEDS[1:3]]
    assert (sorted(gaps(eve)), gaps(bob), notices.told) == ([[FEEDS[0]], [FEEDS[1]]], [], 4)
    notices.lost(TOPICS[:1], "split")
    while steps:
        steps.pop(0)()
    assert [message["reason"] for message in ann.messages if message["op"] == "gap"][-1:] == ["split"]
