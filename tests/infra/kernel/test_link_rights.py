"""What a role may say on a link: the whole table, walked (DPS-24)."""

from itertools import product

import pytest

from infra.kernel import roles
from infra.kernel.errors import Refused
from infra.kernel.frames import (
    NOBODY,
    AnyFrame,
    Barred,
    Bye,
    Call,
    Deliver,
    Heartbeat,
    Hello,
    Publish,
    Revoked,
    Subscribe,
    View,
)
from infra.kernel.link_rights import ALL_OPS, LINK_KINDS, Rights, rights_of_peer
from infra.kernel.topics import Kind, parse_topic

NO_VIEW = View(0, ())
ROLES = [getattr(roles, name) for name in dir(roles) if name.isupper()]
TOPICS = {
    Kind.USER: parse_topic("hm://presence/user/ann/"),
    Kind.PLAYLIST: parse_topic("hm://playlist/user/ann/playlist/p/"),
    Kind.ARTIST: parse_topic("hm://notifications/feed/bjork%new-album/"),
    Kind.SOCIAL: parse_topic("hm://notifications/feed/ann%friend-joined/"),
}


def hello(role: str, site: str = "sto") -> Hello:
    return Hello(role, "n1", site, 1, 0, NO_VIEW)


def rights(speaker: str, hearer: str, *, calls: bool, sites: tuple[str, str] = ("sto", "sto")) -> Rights | None:
    """Returns what `speaker` may say to `hearer`, on a link for which it `calls` or is called; None where there is no such link."""
    try:
        return rights_of_peer(hello(hearer, sites[1]), hello(speaker, sites[0]), we_called=not calls)
    except Refused:
        return None


def everywhere() -> list[tuple[str, str, bool, tuple[str, str], Rights]]:
    """Returns all that anybody may say to anybody."""
    places = product(ROLES, ROLES, (True, False), (("sto", "sto"), ("sto", "lon")))
    found = [(one, other, calls, sites, rights(one, other, calls=calls, sites=sites)) for one, other, calls, sites in places]
    return [(one, other, calls, sites, may) for one, other, calls, sites, may in found if may is not None]


def speakers(kind: type[AnyFrame]) -> set[tuple[str, str]]:
    return {(one, other) for one, other, _, _, may in everywhere() if kind in may.frames}


def test_every_link_has_one_row() -> None:
    for one, other, site in product(ROLES, ROLES, ("sto", "lon")):
        assert sum(row.is_of(hello(one), hello(other, site)) for row in LINK_KINDS) <= 1, (one, other, site)


def test_what_has_no_row_is_no_link() -> None:
    with pytest.raises(Refused, match="a artist of sto has nothing to say to a accesspoint of sto"):
        rights_of_peer(hello(roles.ACCESSPOINT), hello(roles.ARTIST), we_called=False)
    assert rights(roles.AGGREGATOR, roles.BROKER, calls=True, sites=("sto", "lon")) is None
    assert rights(roles.BROKER, roles.AGGREGATOR, calls=True) is None, "aggregators call brokers, never the other way round"


def test_heartbeats_and_goodbyes_go_on_every_link() -> None:
    for *_, may in everywhere():
        assert may.refusal(Heartbeat(NO_VIEW), "x") is None
        assert may.refusal(Bye(4000, ""), "x") is None


@pytest.mark.parametrize(
    ("kind", "who"),
    [
        (Publish, {("broker", "broker"), ("presence", "broker"), ("playlist", "broker"), ("notification", "broker")}),
        (Subscribe, {("accesspoint", "aggregator"), ("aggregator", "broker"), ("broker", "broker")}),
        (Deliver, {("aggregator", "accesspoint"), ("broker", "aggregator"), ("broker", "broker")}),
        (Barred, {("social", "accesspoint"), ("social", "playlist"), ("playlist", "accesspoint")}),
    ],
)
def test_who_may_say_what_matters_most(kind: type[AnyFrame], who: set[tuple[str, str]]) -> None:
    """DPS-24: events, interest, and what is no longer allowed."""
    assert speakers(kind) == who


def test_revocations_come_from_brokers_down() -> None:
    assert {speaker for speaker, _ in speakers(Revoked)} == {"broker", "aggregator"}
    assert ("aggregator", "accesspoint") in speakers(Revoked)
    assert ("aggregator", "broker") not in speakers(Revoked)


@pytest.mark.parametrize("service", [roles.PRESENCE, roles.PLAYLIST, roles.NOTIFICATION])
def test_a_service_publishes_on_its_own_kinds_of_topics(service: str) -> None:
    """DPS-24, SB-45: whatever it claims in the frame."""
    allowed = {
        roles.PRESENCE: {Kind.USER},
        roles.PLAYLIST: {Kind.PLAYLIST},
        roles.NOTIFICATION: {Kind.PLAYLIST, Kind.ARTIST, Kind.SOCIAL},
    }
    may = rights(service, roles.BROKER, calls=True)
    assert may is not None
    for kind, topic in TOPICS.items():
        refused = may.refusal(Publish(1, 0, [topic], [b""], [b"{}"]), service)
        assert (refused is None) == (kind in allowed[service]), kind
        assert refused is None or refused.code.name == "forbidden"


def test_one_event_that_is_not_allowed_refuses_all_of_a_frame() -> None:
    may = rights(roles.PRESENCE, roles.BROKER, calls=True)
    assert may is not None
    topics: list[bytes] = [TOPICS[Kind.USER], TOPICS[Kind.ARTIST]]
    assert may.refusal(Publish(1, 0, topics, [b"", b""], [b"{}", b"{}"]), "presence") is not None


def test_only_access_points_ask_for_users() -> None:
    """DPS-24: nobody else pulls an inbox, marks it, asks what somebody may see, or changes a private session for them."""
    for op in ("pull", "list", "seen", "read", "change", "history", "private", "follow", "unfollow"):
        assert {one for one, _, _, _, may in everywhere() if op in may.ops} == {roles.ACCESSPOINT}, op
    assert {one for one, _, _, _, may in everywhere() if "act" in may.ops} == {roles.ACCESSPOINT, roles.PLAYLIST}


def test_frames_that_are_not_looked_into_are_those_that_are_allowed_whatever_is_in_them() -> None:
    every = {kind for *_, may in everywhere() for kind in may.frames}
    for one, other, _, _, may in everywhere():
        looked_into = {Call} | ({Publish} if (one, other) != (roles.BROKER, roles.BROKER) else set())
        assert may.unquestioned == (every & may.frames) - looked_into, (one, other)


def test_every_op_is_refused_to_all_who_may_not_ask() -> None:
    """A call that the table does not allow is told apart from one that nobody knows, which the role answers itself."""
    for one, other, _, _, may in everywhere():
        if Call not in may.frames:
            assert may.refusal(Call(1, NOBODY, "", "pull", b""), one) is not None, (one, other)
            continue
        for op in ALL_OPS:
            refused = may.refusal(Call(1, NOBODY, "", op, b""), one)
            assert (refused is None) == (op in may.ops), (one, other, op)
        assert may.refusal(Call(1, NOBODY, "", "from-the-future", b""), one) is None
