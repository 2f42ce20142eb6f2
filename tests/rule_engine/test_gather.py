"""rule_engine.gather: facts from preferences, an event and a follower."""

import pytest
from msgspec.structs import replace

from infra.kernel.topics import Kind, parse_topic
from rule_engine.facts import FACTS
from rule_engine.gather import Follower, Occasion, class_of, gather
from rule_engine.load import default_text, load
from rule_engine.preferences import Preferences, Quiet
from rule_engine.verdict import Way

ALBUM = Occasion(topic=parse_topic("hm://notifications/feed/a1%new-album/"), kind="album", producer="a1")
NIGHT_MS, DAY_MS = 23 * 3_600_000, 12 * 3_600_000
RULES = load(default_text(), "default")


@pytest.mark.parametrize(
    ("uri", "cls"),
    [
        ("hm://notifications/feed/a1%new-track/", "new-track"),
        ("hm://notifications/feed/bob%friend-joined/", "friend-joined"),
        ("hm://playlist/user/bob/playlist/mix/", "playlist"),
        ("hm://presence/user/bob/", ""),
    ],
)
def test_the_topic_tells_the_class(uri: str, cls: str) -> None:
    assert class_of(parse_topic(uri)) == cls


def test_every_fact_comes_from_where_it_is_known() -> None:
    follower = Follower(
        friend=True, sent=True, desktop=True, mobile=True, mobile_known=True, webhook_known=True, mails_recent=1, pushes_recent=2
    )
    preferences = Preferences(
        email="ann@example.org",
        channels={"new-album": {"in-client": False, "push": False, "email": False, "webhook": False}},
        muted=("artist:a1",),
        quiet=Quiet(since="22:00", until="07:00"),
        digest="daily",
    )
    facts = gather(preferences, ALBUM, follower, NIGHT_MS, mandatory=("new-album",))
    assert (facts.topic, facts.cls, facts.kind, facts.mails_recent, facts.pushes_recent) == (Kind.ARTIST, "new-album", "album", 1, 2)
    assert [name for name, fact in FACTS.items() if fact.type is bool and not getattr(facts, fact.attribute)] == []
    nothing = gather(Preferences(), ALBUM, Follower(), NIGHT_MS)
    assert [name for name, fact in FACTS.items() if fact.type is bool and getattr(nothing, fact.attribute)] == []


def test_a_changed_preference_counts_for_the_next_event() -> None:
    """SB-43"""
    preferences = Preferences(email="ann@example.org")
    assert RULES.decide(gather(preferences, ALBUM, Follower(), DAY_MS)).email is Way.NOW
    changed = replace(preferences, channels={"new-album": {"email": False}})
    assert RULES.decide(gather(changed, ALBUM, Follower(), DAY_MS)).email is Way.NO
    other = replace(ALBUM, topic=parse_topic("hm://notifications/feed/a1%new-track/"))
    assert RULES.decide(gather(changed, other, Follower(), DAY_MS)).email is Way.NOW
    assert RULES.decide(gather(replace(preferences, digest="daily"), ALBUM, Follower(), DAY_MS)).email is Way.DIGEST
