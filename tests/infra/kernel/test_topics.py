"""The `hm://` forms, read and written in one place."""

import random
import string
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.topics import (
    ARTIST_TYPES,
    MAX_ID,
    SOCIAL_TYPES,
    Kind,
    are_topics,
    format_topic,
    inbox_topic,
    kind_of,
    parse_topic,
    tag_of,
    user_topic,
)

ID_CHARACTERS = string.ascii_letters + string.digits + "._-"
TYPES = [*ARTIST_TYPES, *SOCIAL_TYPES]
IDS = st.text(ID_CHARACTERS, min_size=1, max_size=MAX_ID)
URIS = st.one_of(
    st.builds("hm://presence/user/{}/".format, IDS),
    st.builds("hm://playlist/user/{}/playlist/{}/".format, IDS, IDS),
    st.builds("hm://notifications/feed/{}%{}/".format, IDS, st.sampled_from(TYPES)),
    st.builds("hm://notifications/inbox/{}/".format, IDS),
)
HALF_RIGHT = st.text(ID_CHARACTERS + "/%UPASI\n", max_size=20).map(str.encode)


FIVE = [
    "hm://presence/user/ann/",
    "hm://playlist/user/ann/playlist/mix/",
    f"hm://notifications/feed/ann%{ARTIST_TYPES[0]}/",
    f"hm://notifications/feed/ann%{SOCIAL_TYPES[0]}/",
    "hm://notifications/inbox/ann/",
]


def ids(count: int) -> list[str]:
    """Returns random ids of every length, the longest often."""
    rng = random.Random(1)
    lengths = [rng.choice((rng.randint(1, MAX_ID), rng.randint(1, 12), MAX_ID)) for _ in range(count)]
    return ["".join(rng.choices(ID_CHARACTERS, k=length)) for length in lengths]


def test_ten_thousand_random_ids_round_trip_in_every_form() -> None:
    """SB-1."""
    names = ids(10_000)
    for name, other, type_ in zip(names, reversed(names), cycle(TYPES), strict=False):
        expected = {
            f"hm://presence/user/{name}/": Kind.USER,
            f"hm://playlist/user/{name}/playlist/{other}/": Kind.PLAYLIST,
            f"hm://notifications/inbox/{name}/": Kind.INBOX,
            f"hm://notifications/feed/{name}%{type_}/": Kind.ARTIST if type_ in ARTIST_TYPES else Kind.SOCIAL,
        }
        for uri, kind in expected.items():
            topic = parse_topic(uri)
            assert (format_topic(topic), kind_of(topic), parse_topic(format_topic(topic))) == (uri, kind, topic)


def test_the_first_byte_tells_the_kind() -> None:
    """SB-1."""
    for kind, uri in zip(Kind, FIVE, strict=True):
        assert parse_topic(uri)[0] == tag_of(kind)
    assert tag_of("of a newer version") is None


def test_a_users_feed_has_one_topic_whichever_way_it_is_named() -> None:
    assert user_topic("ann") == parse_topic("hm://presence/user/ann/")
    assert inbox_topic("ann") == parse_topic("hm://notifications/inbox/ann/")


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("hm://presence/user/ann", "end with a slash"),
        ("hm://notifications/feed/abba%new-album", "end with a slash"),
        ("", "start with hm://"),
        ("http://presence/user/ann/", "start with hm://"),
        ("HM://presence/user/ann/", "start with hm://"),
        (" hm://presence/user/ann/", "start with hm://"),
        ("hm://radio/user/ann/", "under hm://presence/, hm://playlist/, hm://notifications/"),
        ("hm:///", "under hm://presence/"),
        ("hm://presence/user//", "hm://presence/user/<id>/; an id is 1 to 128 characters"),
        (f"hm://presence/user/{'a' * 129}/", "an id is 1 to 128 characters"),
        ("hm://presence/user/ann/extra/", "must be hm://presence/user/<id>/;"),
        ("hm://presence/artist/ann/", "must be hm://presence/user/<id>/;"),
        ("hm://presence/user/\u00e5sa/", "characters out of A-Z a-z 0-9 . _ -"),
        ("hm://presence/user/a%20b/", "characters out of A-Z a-z 0-9 . _ -"),
        ("hm://presence/user/\uff21/", "characters out of A-Z a-z 0-9 . _ -"),
        ("hm://playlist/user/ann/", "must be hm://playlist/user/<id>/playlist/<id>/;"),
        ("hm://playlist/user/ann/playlist//", "an id is 1 to 128 characters"),
        ("hm://playlist/user//playlist/p1/", "an id is 1 to 128 characters"),
        ("hm://notifications/feed/abba/", "<id>%<type>/ with a type out of new-album, new-track"),
        ("hm://notifications/feed/%new-album/", "an id is 1 to 128 characters"),
        ("hm://notifications/feed/abba%new-song/", "with a type out of new-album, new-track, artist-playlist, friend-joined"),
        ("hm://notifications/feed/abba%25new-album/", "with a type out of"),
        ("hm://notifications/feed/a%b%new-album/", "an id is 1 to 128 characters"),
    ],
)
def test_a_malformed_uri_is_refused_with_what_is_wrong_with_it(uri: str, reason: str) -> None:
    """SB-2."""
    with pytest.raises(Refused) as refused:
        parse_topic(uri)
    assert refused.value.code.name == "bad-topic"
    assert reason in refused.value.reason


@pytest.mark.parametrize("uri", ["hm://presence/user/ann/\n", "hm://presence/user/\ud83d/", "hm://" + "x" * 10**6 + "/"])
def test_what_is_shown_of_a_malformed_uri_is_short_and_can_be_sent(uri: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_topic(uri)
    assert len(refused.value.reason.encode()) < 300


@given(URIS)
def test_what_parsing_gives_is_a_topic_in_compact_form(uri: str) -> None:
    assert are_topics([parse_topic(uri)])


@given(st.one_of(st.binary(max_size=12), st.builds(lambda tag, rest: tag + rest, st.sampled_from([b"U", b"P", b"A", b"S"]), HALF_RIGHT)))
def test_bytes_that_pass_as_a_topic_are_one_that_parsing_gives(compact: bytes) -> None:
    """What comes over a link can always be printed, and printed it is the same topic."""
    if are_topics([compact]):
        assert parse_topic(format_topic(compact)) == compact  # type: ignore[arg-type]


def test_what_parsing_never_gives_is_no_topic() -> None:
    for compact in (
        b"",
        b"U",
        b"Uann\n",
        b"Uann/",
        b"Pann",
        b"Pann/",
        b"P/p",
        b"Aabba%friend-joined",
        b"Sann%new-album",
        b"Xann",
        b"U\xe5",
    ):
        assert not are_topics([compact]), compact
        assert not are_topics([b"Uann", compact, b"Ubob"]), compact


@given(st.lists(st.one_of(URIS.map(parse_topic), st.sampled_from([b"Uann\nUbob", b"", b"\n", b"Uann\n", b"Xann"])), max_size=6))
def test_many_are_topics_where_each_of_them_is(compacts: list[bytes]) -> None:
    assert are_topics(compacts) == all(are_topics([compact]) for compact in compacts)
