"""infra.runtime.introduction: what a node says of itself, at the moment it says it."""

from pathlib import Path

import pytest

from infra.kernel.errors import Refused
from infra.kernel.frames import HIGHEST_TAG, Hello, View
from infra.kernel.link_handshake import LinkSide
from infra.runtime.introduction import Introduction
from infra.runtime.link_auth import LinkAuth, LinkAuthOptions
from infra.runtime.wire.wire import WireEnd
from tests.support.recording_wire import RecordingWire

IDENTITY = ("broker", "b1", "sto")


class ElsewhereWire(RecordingWire):
    """A wire to another process."""

    far_end = WireEnd()


def test_a_hello_has_the_time_and_the_view_of_its_moment() -> None:
    """An old view would have the peer believe in brokers that are gone."""
    wall_s, view = [100.0], [View(1, ("b1",))]
    introduction = Introduction(IDENTITY, 7, LinkAuth(), wall=lambda: wall_s[0], view=lambda: view[0])
    assert introduction.hello() == Hello("broker", "b1", "sto", 7, 100_000, View(1, ("b1",)), tags=HIGHEST_TAG)
    wall_s[0], view[0] = 101.5, View(2, ("b1", "b2"))
    assert introduction.hello(b"n") == Hello("broker", "b1", "sto", 7, 101_500, View(2, ("b1", "b2")), tags=HIGHEST_TAG, nonce=b"n")


def test_a_nonce_is_said_where_somebody_else_is_to_prove_who_they_are(tmp_path: Path) -> None:
    """DPS-24."""
    key = tmp_path / "link.key"
    key.write_bytes(b"0123456789abcdef" * 4)
    key.chmod(0o600)
    auth = LinkAuth(LinkAuthOptions(mode="secret", secret_files=(key,)))
    introduction = Introduction(IDENTITY, 7, auth, wall=lambda: 0.0, view=lambda: View(0, ()))
    [far] = introduction.handshake(LinkSide.CALLER, ElsewhereWire()).begin()
    [near] = introduction.handshake(LinkSide.CALLER, RecordingWire()).begin()
    assert isinstance(far, Hello)
    assert isinstance(near, Hello)
    assert far.nonce
    assert not near.nonce


def test_whom_the_caller_did_not_want_is_refused() -> None:
    introduction = Introduction(IDENTITY, 7, LinkAuth(), wall=lambda: 0.0, view=lambda: View(0, ()))
    asked: list[str] = []

    def expect(hello: Hello) -> None:
        asked.append(hello.node)
        raise Refused("wrong-peer")

    handshake = introduction.handshake(LinkSide.CALLER, RecordingWire(), expect)
    handshake.begin()
    with pytest.raises(Refused, match="wrong-peer"):
        handshake.take(introduction.hello())
    assert asked == ["b1"]
