"""The handshake of a link: who gets in, in each mode, and who does not, whatever they say (DPS-24)."""

from itertools import product
from typing import Any

import pytest

from infra.kernel.errors import Refused
from infra.kernel.frames import PROTOCOL, AnyFrame, Bye, Frame, Heartbeat, Hello, Proof, View
from infra.kernel.link_handshake import (
    NONCE_BYTES,
    HandshakeStage,
    LinkAuthMode,
    LinkCredentials,
    LinkHandshake,
    LinkSide,
    link_mac,
    node_name,
)

NO_VIEW = View(0, ())
OPEN = LinkCredentials()
OLD, NEW = b"old secret " * 4, b"new secret " * 4
BROKER, AGGREGATOR = ("broker", "b1", "sto"), ("aggregator", "a1", "sto")


def secret(nonce: int, *secrets: bytes) -> LinkCredentials:
    return LinkCredentials("secret", secrets or (OLD,), bytes([nonce]) * NONCE_BYTES)


def side(
    which: LinkSide,
    who: tuple[str, str, str],
    credentials: LinkCredentials = OPEN,
    *,
    incarnation: int = 1,
    version: int = PROTOCOL,
    **options: Any,
) -> LinkHandshake:
    return LinkHandshake(which, credentials, lambda nonce: Hello(*who, incarnation, 0, NO_VIEW, version, nonce=nonce), **options)


def caller(credentials: LinkCredentials = OPEN, **options: Any) -> LinkHandshake:
    return side(LinkSide.CALLER, AGGREGATOR, credentials, **options)


def called(credentials: LinkCredentials = OPEN, **options: Any) -> LinkHandshake:
    return side(LinkSide.CALLED, BROKER, credentials, **options)


def met(one: LinkHandshake, other: LinkHandshake) -> tuple[Hello | None, Hello | None]:
    """Lets both sides speak until they are done; returns whom `one`, who calls, and `other` have met."""
    peers: dict[LinkHandshake, Hello | None] = {one: None, other: None}
    waiting: list[tuple[LinkHandshake, Frame]] = [(other, frame) for frame in one.begin()]
    while waiting:
        to, frame = waiting.pop(0)
        step = to.take(frame)  # type: ignore[arg-type]
        peers[to] = step.peer or peers[to]
        waiting += [(one if to is other else other, said) for said in step.say]
    return peers[one], peers[other]


def refusal(handshake: LinkHandshake, frame: AnyFrame) -> str:
    with pytest.raises(Refused) as refused:
        handshake.take(frame)
    return str(refused.value)


NAMES = {"agg": frozenset({node_name("sto", "aggregator", "a1")}), "broker": frozenset({node_name("sto", "broker", "b1")})}


def test_a_goodbye_instead_of_a_hello_is_told_in_words_that_a_log_can_hold() -> None:
    """A peer could fill the log with 64 KiB at each try, and tell a terminal what to do."""
    said = refusal(caller(OPEN), Bye(4004, "full\x1b[2J\n" + "x" * 60_000))
    assert said.startswith("overloaded: full\\u001b[2J\\u000axxx")
    assert len(said) < 400


@pytest.mark.parametrize("mode", ["open", "tls", "secret"])
def test_two_sides_of_one_mode_meet(mode: LinkAuthMode) -> None:
    """DPS-24: both know who the other one is, and neither is done before it does."""
    mine, theirs = (secret(1), secret(2)) if mode == "secret" else (LinkCredentials(mode), LinkCredentials(mode))
    one, other = caller(mine, names=NAMES["broker"]), called(theirs, names=NAMES["agg"])
    broker, aggregator = met(one, other)
    assert broker is not None
    assert aggregator is not None
    assert (broker.role, broker.node, broker.site) == BROKER
    assert (aggregator.role, aggregator.node, aggregator.site) == AGGREGATOR
    assert one.stage is other.stage is HandshakeStage.DONE


@pytest.mark.parametrize(("mine", "theirs"), [(mine, theirs) for mine, theirs in product(("open", "secret"), repeat=2) if mine != theirs])
def test_nobody_is_talked_down_to_a_weaker_mode(mine: str, theirs: str) -> None:
    """DPS-24: a peer with a secret never takes one without, whichever of them has called."""
    credentials = {"open": LinkCredentials(), "secret": secret(1)}
    with pytest.raises(Refused, match=r"link-not-proved.*same secret"):
        met(caller(credentials[mine]), called(credentials[theirs]))


def test_a_peer_that_offers_a_nonce_and_no_proof_stays_outside() -> None:
    other = called(secret(2))
    step = other.take(Hello(*AGGREGATOR, 1, 0, NO_VIEW, nonce=b"1" * NONCE_BYTES))
    assert step.peer is None
    assert "must be Proof, not Heartbeat" in refusal(other, Heartbeat(NO_VIEW))
    assert "link-not-proved" in refusal(other, Proof(b""))
    assert "link-not-proved" in refusal(other, Proof(bytes(32)))


@pytest.mark.parametrize("nonce", [b"", b"short", bytes(64)])
def test_a_nonce_of_another_size_is_no_offer(nonce: bytes) -> None:
    assert "offers no proof" in refusal(called(secret(2)), Hello(*AGGREGATOR, 1, 0, NO_VIEW, nonce=nonce))


def test_another_secret_is_refused_by_both_sides() -> None:
    """DPS-24: the side that is called finds out first, and says nothing that a stranger could work on."""
    with pytest.raises(Refused, match=r"aggregator sto/a1 does not know the secret"):
        met(caller(secret(1, NEW)), called(secret(2, OLD)))
    liar, one = called(secret(2, NEW)), caller(secret(1, OLD))
    hello = liar.take(*one.begin()).say  # type: ignore[arg-type]
    one.take(*hello)  # type: ignore[arg-type]
    assert "broker sto/b1 does not know the secret" in refusal(one, Proof(bytes(32)))


@pytest.mark.parametrize(
    ("mine", "theirs"), [((OLD,), (OLD, NEW)), ((OLD, NEW), (NEW, OLD)), ((NEW, OLD), (OLD, NEW)), ((NEW,), (NEW, OLD))]
)
def test_a_secret_is_changed_without_a_gap(mine: tuple[bytes, ...], theirs: tuple[bytes, ...]) -> None:
    """DPS-24: while nodes get the new secret one after the other, all of them meet, whoever calls."""
    assert None not in met(caller(secret(1, *mine)), called(secret(2, *theirs)))


def test_an_old_secret_that_was_taken_away_lets_nobody_in() -> None:
    with pytest.raises(Refused, match="link-not-proved"):
        met(caller(secret(1, OLD)), called(secret(2, NEW)))


def recorded() -> tuple[list[Frame], list[Frame]]:
    """Returns what the two sides of a handshake that went well have said."""
    one, other = caller(secret(1)), called(secret(2))
    said = [*one.begin()]
    answers = [*other.take(said[0]).say]  # type: ignore[arg-type]
    said += one.take(answers[0]).say  # type: ignore[arg-type]
    answers += other.take(said[1]).say  # type: ignore[arg-type]
    return said, answers


def test_a_handshake_that_was_overheard_is_good_for_nothing() -> None:
    """DPS-24: no replay, to either side: the other one has another nonce."""
    said, answers = recorded()
    other = called(secret(3))
    other.take(said[0])  # type: ignore[arg-type]
    assert "link-not-proved" in refusal(other, said[1])  # type: ignore[arg-type]
    one = caller(secret(4))
    one.begin()
    one.take(answers[0])  # type: ignore[arg-type]
    assert "link-not-proved" in refusal(one, answers[1])  # type: ignore[arg-type]


def test_what_we_say_is_no_proof_for_ourselves() -> None:
    """DPS-24: no reflection. A caller that is given its own hello and its own proof back finds no peer."""
    one = side(LinkSide.CALLER, BROKER, secret(1))
    (hello,) = one.begin()
    (proof,) = one.take(hello).say  # type: ignore[arg-type]
    assert "link-not-proved" in refusal(one, proof)  # type: ignore[arg-type]


def test_a_proof_of_one_side_is_none_of_the_other() -> None:
    a, b = (Hello(*who, 1, 0, NO_VIEW, nonce=bytes(NONCE_BYTES)) for who in (AGGREGATOR, BROKER))
    macs = [link_mac(OLD, which, *pair) for which in LinkSide for pair in ((a, b), (b, a))]
    assert len(set(macs)) == 4


@pytest.mark.parametrize("field", ["role", "node", "site", "incarnation", "nonce"])
@pytest.mark.parametrize("victim", [0, 1])
def test_a_hello_that_was_changed_on_its_way_breaks_the_proof(field: str, victim: int) -> None:
    """DPS-24: role, site, node, incarnation and nonce of both hellos are proved."""
    changed = {"role": "accesspoint", "node": "x", "site": "lon", "incarnation": 2, "nonce": bytes(NONCE_BYTES)}
    hellos = [Hello(*who, 1, 0, NO_VIEW, nonce=b"1" * NONCE_BYTES) for who in (AGGREGATOR, BROKER)]
    before = link_mac(OLD, LinkSide.CALLER, *hellos)
    fields = {name: getattr(hellos[victim], name) for name in hellos[victim].__struct_fields__}
    hellos[victim] = Hello(**fields | {field: changed[field]})
    assert link_mac(OLD, LinkSide.CALLER, *hellos) != before


@pytest.mark.parametrize(
    "names",
    [
        frozenset(),
        frozenset({node_name("sto", "broker", "a1")}),
        frozenset({node_name("lon", "aggregator", "a1")}),
        frozenset({node_name("sto", "aggregator", "a2")}),
        frozenset({"segue://sto/aggregator"}),
        frozenset({"segue://sto/aggregator/a1/"}),
    ],
    ids=["no certificate", "another role", "another site", "another node", "less", "more"],
)
@pytest.mark.parametrize("which", list(LinkSide))
def test_a_certificate_must_name_the_very_node_of_the_hello(which: LinkSide, names: frozenset[str]) -> None:
    """DPS-24: role, node and site, on both sides."""
    handshake = side(which, BROKER, LinkCredentials("tls"), names=names)
    handshake.begin()
    said = refusal(handshake, Hello(*AGGREGATOR, 1, 0, NO_VIEW))
    assert said.startswith("link-not-proved: the peer says that it is segue://sto/aggregator/a1, its certificate names ")
    assert "segue certs node" in said


def test_a_certificate_may_have_other_names_besides() -> None:
    both = NAMES["broker"] | NAMES["agg"]
    assert None not in met(caller(LinkCredentials("tls"), names=both), called(LinkCredentials("tls"), names=both))


def test_a_caller_proves_nothing_to_one_whom_it_did_not_mean_to_call() -> None:
    def expect(hello: Hello) -> None:
        raise Refused("wrong-peer", hello.role)

    one = caller(secret(1), expect=expect)
    one.begin()
    assert refusal(one, Hello(*BROKER, 1, 0, NO_VIEW, nonce=b"2" * NONCE_BYTES)) == "wrong-peer: broker"
    assert one.stage is HandshakeStage.HELLO


@pytest.mark.parametrize("credentials", [LinkCredentials(), LinkCredentials("tls"), secret(1)])
def test_another_version_is_refused_before_anything_else(credentials: LinkCredentials) -> None:
    assert "version-mismatch" in refusal(called(credentials), Hello(*AGGREGATOR, 1, 0, NO_VIEW, PROTOCOL + 1))


def test_a_goodbye_ends_it_with_its_code() -> None:
    one = caller()
    one.begin()
    assert refusal(one, Bye(4402, "there already")) == "duplicate-node: there already"
    assert refusal(one, Bye(1, "what")) == "bad-link-frame: what"


def test_nothing_follows_the_end_and_nothing_but_hello_begins() -> None:
    one = called()
    assert "must be Hello, not Proof" in refusal(one, Proof(b""))
    one.take(Hello(*AGGREGATOR, 1, 0, NO_VIEW))
    assert "must be none at all" in refusal(one, Hello(*AGGREGATOR, 1, 0, NO_VIEW))
