"""infra.kernel.grants: what a token allows its user to follow."""

import fnmatch
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.grants import MAX_TOPICS, Grants, TopicsByPattern
from infra.kernel.topics import ARTIST_TYPES, Kind, Topic, kind_of, parse_topic

ALICE = parse_topic("hm://presence/user/alice/")
LIST = parse_topic("hm://playlist/user/alice/playlist/p1/")
ALBUM = parse_topic("hm://notifications/feed/adele%new-album/")
JOINED = parse_topic("hm://notifications/feed/alice%friend-joined/")
INBOX = parse_topic("hm://notifications/inbox/alice/")


def grants(topics: Any = None, kinds: Any = None) -> Grants:
    made = Grants.of(topics=topics, kinds=kinds)
    assert made is not None
    return made


def allowed(made: Grants) -> set[Topic]:
    return {topic for topic in (ALICE, LIST, ALBUM, JOINED, INBOX) if made.allows(topic)}


def test_a_token_with_neither_claim_narrows_nothing() -> None:
    assert Grants.of() is None


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        ([], set()),
        (["hm://presence/user/alice/"], {ALICE}),
        (["hm://presence/user/bob/"], set()),
        (["hm://presence/user/*/"], {ALICE}),
        (["hm://playlist/user/alice/playlist/*/"], {LIST}),
        (["hm://playlist/user/*/playlist/p1/"], {LIST}),
        (["hm://playlist/user/*/playlist/*/"], {LIST}),
        (["hm://playlist/user/bob/playlist/*/", "hm://playlist/user/*/playlist/p2/"], set()),
        (["hm://notifications/feed/*%new-album/"], {ALBUM}),
        (["hm://notifications/feed/*%new-track/"], set()),
        (["hm://notifications/feed/*%friend-joined/", "hm://presence/user/alice/"], {JOINED, ALICE}),
    ],
)
def test_patterns_allow_the_topics_that_they_match_and_no_others(topics: list[str], expected: set[Topic]) -> None:
    assert allowed(grants(topics)) == expected


def test_kinds_allow_all_topics_of_a_kind_and_add_to_the_patterns() -> None:
    assert allowed(grants(kinds=["artist", "social"])) == {ALBUM, JOINED}
    assert allowed(grants(["hm://presence/user/*/"], ["playlist"])) == {ALICE, LIST}
    assert allowed(grants(kinds=[])) == set()


@pytest.mark.parametrize(
    "topics",
    [
        "hm://presence/user/*/",
        {"hm://presence/user/*/": True},
        [7],
        [None],
        ["*"],
        ["hm://*"],
        ["hm://presence/user/**/"],
        ["hm://presence/user/al*/"],
        ["hm://presence/*/alice/"],
        ["hm://notifications/feed/*%*/"],
        ["hm://notifications/inbox/alice/"],
        ["hm://notifications/inbox/*/"],
        ["hm://presence/user/\u0430lice/"],
        ["hm://presence/user/*/\n"],
        ["hm://presence/user/*/"] * (MAX_TOPICS + 1),
    ],
    ids=lambda topics: str(topics)[:40],
)
def test_what_is_no_list_of_patterns_is_a_bad_token(topics: Any) -> None:
    with pytest.raises(Refused) as refused:
        Grants.of(topics=topics)
    assert refused.value.code.name == "bad-token"


@pytest.mark.parametrize("kinds", ["user", ["inbox"], ["USER"], [1], [["user"]], ["*"]], ids=str)
def test_what_is_no_list_of_kinds_is_a_bad_token(kinds: Any) -> None:
    with pytest.raises(Refused) as refused:
        Grants.of(kinds=kinds)
    assert refused.value.code.name == "bad-token"


def test_grants_of_the_same_claims_are_equal() -> None:
    assert grants(["hm://presence/user/*/"], ["artist"]) == grants(["hm://presence/user/*/"] * 2, ["artist"])
    assert grants(["hm://presence/user/*/"]) != grants(["hm://presence/user/alice/"])
    assert len({grants(["hm://presence/user/*/"]), grants(["hm://presence/user/*/"])}) == 1


ids = st.sampled_from(["a", "b", "a.b"])
pattern_ids = ids | st.just("*")


def uris(one: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        one.map("hm://presence/user/{}/".format),
        st.tuples(one, one).map(lambda pair: "hm://playlist/user/{}/playlist/{}/".format(*pair)),
        st.tuples(one, st.sampled_from([*ARTIST_TYPES, "friend-joined"])).map(lambda pair: "hm://notifications/feed/{}%{}/".format(*pair)),
    )


@given(st.lists(uris(pattern_ids), max_size=4), st.sets(st.sampled_from(["user", "playlist", "artist", "social"]), max_size=2), uris(ids))
def test_a_topic_is_allowed_exactly_when_a_pattern_or_a_kind_has_it(topics: list[str], kinds: set[str], uri: str) -> None:
    topic = parse_topic(uri)
    expected = kind_of(topic) in kinds or any(fnmatch.fnmatchcase(uri, pattern) for pattern in topics)
    assert grants(topics, sorted(kinds)).allows(topic) is expected
    assert kind_of(topic) in set(Kind)


@given(
    st.lists(st.sampled_from(["alice", "bob", "*"]), max_size=3),
    st.lists(st.sampled_from(["user", "artist", "social", "playlist"]), max_size=2),
)
def test_topics_by_pattern_say_of_many_what_grants_say_of_each(users: list[str], kinds: list[str]) -> None:
    made = grants([f"hm://presence/user/{user}/" for user in users] + [f"hm://playlist/user/{user}/playlist/*/" for user in users], kinds)
    topics = (ALICE, LIST, ALBUM, JOINED)
    assert TopicsByPattern(topics).allowed_by(made) == {topic for topic in topics if made.allows(topic)}
