"""A core of an access point without policy: what it decides, without sockets, clocks and services."""

import random
from collections.abc import Callable
from typing import Any

import msgspec

from accesspoint.core import AccessPointCore
from accesspoint.options import AccessPointOptions
from accesspoint.soon import Soon
from infra.kernel.frames import Call, Frame, View
from infra.runtime.tokens import Identity

from .recording_session import RecordingSession, never

OPTIONS = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=["a1"])
FEEDS = [f"hm://presence/user/u{n}/" for n in range(9)]


class KeptFrames(list[Frame]):
    """A link that keeps what was sent."""

    def send(self, frame: Frame) -> None:
        self.append(frame)


def make_core(
    verify: Callable[[str, float], Identity] = lambda token, wall_s: Identity(token, 1e12), soon: Soon = never, **options: Any
) -> AccessPointCore:
    """Returns a core for which a token is a user name. `soon`: takes what is to be done in the next turn."""
    return AccessPointCore(msgspec.structs.replace(OPTIONS, **options), verify, random.Random(1), soon)


def welcomed(core: AccessPointCore, user: str = "eve", now_s: float = 0.0) -> RecordingSession:
    """Returns a session of `user` that has come in."""
    session = RecordingSession(core, now_s)
    answer = session.tell(now_s, op="hello", token=user, client="c1")
    assert answer is not None
    assert answer["op"] == "welcome"
    return session


def linked(core: AccessPointCore) -> KeptFrames:
    """Returns the aggregator's link."""
    outlet = KeptFrames()
    core.announcer.set_view(View(1, ("a1",)))
    core.announcer.node_up("a1", outlet)
    outlet.clear()
    return outlet


def service_up(core: AccessPointCore, service: str = "presence") -> KeptFrames:
    """Returns the link of a service."""
    outlet = KeptFrames()
    core.calls.node_up(service, "p1", outlet)
    return outlet


def last_call(outlet: KeptFrames) -> Call:
    """Returns the last call that a service got."""
    assert isinstance(outlet[-1], Call)
    return outlet[-1]


def install(core: AccessPointCore, link: KeptFrames, sites: dict[str, int]) -> None:
    """Says on `link` that the aggregator has done everything so far, and each of `sites` so much less."""
    n = link[-1].n  # type: ignore[attr-defined]
    core.announcer.applied("a1", n, {site: n - less for site, less in sites.items()})
    core.subscriptions.advance(0.1)
