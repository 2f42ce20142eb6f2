"""A link to another site holds presence while it has more to do than it can, and nothing else."""

import pytest

from broker.overload_options import OverloadOptions
from broker.site_outlet import MORE_BYTES, SiteOutlet
from infra.kernel.events import encode_tail, numbering, skipped_in
from infra.kernel.frames import Deliver, Hello, View
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

OPENING = numbering("sto", 7)
OPTIONS = OverloadOptions(enabled=True, queue_bytes=1_000_000, late_s=1.0)
PLAYLIST = "hm://playlist/user/ann/playlist/p1/"


def body(uri: str, seq: int) -> bytes:
    return b"%b%d,%b" % (OPENING, seq, encode_tail(uri, 1, str(seq), "play", b"{}"))


def user(name: str) -> str:
    return f"hm://presence/user/{name}/"


class _Site:
    """An outlet and its link, on a wire of which the test says what waits there."""

    def __init__(self) -> None:
        self.wire = RecordingWire()
        hello = Hello("broker", "b1", "lon", 1, 1, View(1, ("b1",)))
        self.link = Link(self.wire, hello, None, 0.0, lambda link: None)
        self.outlet = SiteOutlet(self.link, OPTIONS)
        self._read = 0

    def look(self, waiting: int, late_s: float = 0.0) -> None:
        self.wire.queued_bytes = waiting
        self.outlet.look(late_s, 0.0)

    def went(self) -> list[tuple[int, int]]:
        """Returns the handle of what the link was given since the last call, and how many it says that it replaced."""
        self.link.flush()
        frames, self._read = self.wire.sent[self._read :], len(self.wire.sent)
        return [
            (handle, skipped_in(text))
            for frame in frames
            if isinstance(frame, Deliver)
            for handle, text in zip(frame.handles, frame.bodies, strict=True)
        ]


@pytest.fixture
def site() -> _Site:
    return _Site()


def test_below_60_percent_everything_goes_at_once(site: _Site) -> None:
    """DPS-20."""
    site.look(599_999, late_s=0.59)
    site.outlet.deliver(1, body(user("ann"), 1))
    site.outlet.deliver(1, body(user("ann"), 2))
    assert site.went() == [(1, 0), (1, 0)]


@pytest.mark.parametrize(("waiting", "late_s"), [(600_000, 0.0), (0, 0.6)])
def test_above_presence_waits_and_the_newest_goes(site: _Site, waiting: int, late_s: float) -> None:
    """DPS-20, DPS-21: by what waits on the link, and by how late the loop is. A playlist never waits behind presence."""
    site.look(waiting, late_s)
    for seq in range(3):
        site.outlet.deliver(1, body(user("ann"), seq))
    site.outlet.deliver(2, body(PLAYLIST, 4))
    assert site.went() == [(2, 0)]
    site.look(0)
    assert site.went() == [(1, 2)]
    site.outlet.deliver(1, body(user("ann"), 5))
    assert site.went() == [(1, 0)]


def test_nothing_new_goes_before_what_waits(site: _Site) -> None:
    """Order: also below 60 % presence is held while some of it still waits."""
    site.look(0, late_s=0.9)
    long = body(user("a" * 100), 1) + b" " * MORE_BYTES
    site.outlet.deliver(1, long)
    site.outlet.deliver(2, body(user("ben"), 2))
    site.look(0)
    site.outlet.deliver(2, body(user("ben"), 3))
    assert site.went() == [(1, 0)]
    site.look(0)
    assert site.went() == [(2, 1)]


def test_a_link_that_takes_more_is_given_more(site: _Site) -> None:
    site.look(900_000)
    for handle in range(1000):
        site.outlet.deliver(handle, body(user(f"u{handle}"), 1) + b" " * 500)
    site.look(900_000)
    assert site.went() == []
    site.look(100_000)
    assert len(site.went()) == 1000


def test_what_most_of_the_other_site_follow_goes_first(site: _Site) -> None:
    """DPS-22: a playlist goes before all of it."""
    site.outlet.gains[2] = 7
    site.look(900_000)
    for handle in range(3):
        site.outlet.deliver(handle, body(user(f"u{handle}"), 1))
    site.outlet.deliver(9, body(PLAYLIST, 1))
    assert site.went() == [(9, 0)]
    site.look(0)
    assert site.went() == [(2, 0), (0, 0), (1, 0)]


def test_what_waits_goes_before_something_that_is_said_behind_it(site: _Site) -> None:
    site.look(900_000)
    for handle in range(3):
        site.outlet.deliver(handle, body(user(f"u{handle}"), 1))
    site.outlet.release()
    assert site.went() == [(0, 0), (1, 0), (2, 0)]
    assert not site.outlet.held
