"""A core of an access point whose social service is a twin: what it decides when, without sockets or clocks."""

import random
from collections.abc import Callable
from typing import Any

from accesspoint.authorization.hook_arbiter import HookArbiter
from accesspoint.core import AccessPointCore
from accesspoint.options import AccessPointOptions
from infra.kernel.errors import Refused
from infra.kernel.frames import Barred, Reply, View
from infra.kernel.grants import Grants
from infra.runtime.tokens import Identity

from .bare_core import KeptFrames
from .recording_session import RecordingSession
from .social_twin import SocialTwin, TwinOutlet


class GuardedCore:
    """The access point `core`. A token is a user name; the aggregator is linked.

    - `outlet`: its link to the social service, which answers when `answer` is called.
    - `now_s`: the time, which the test moves.
    - `grants`: what the tokens of users allow.
    - `revoked`: users whose tokens are taken no more.
    """

    def __init__(self, twin: SocialTwin | None = None, *, is_linked: bool = True, asks: HookArbiter | None = None, **options: Any) -> None:
        self.twin, self.hook = twin or SocialTwin(), asks
        self.now_s = 0.0
        self.grants: dict[str, Grants] = {}
        self.revoked: set[str] = set()
        self._steps: list[Callable[[], None]] = []
        services = {"social": ["s1"], "presence": ["p1"], "notification": ["n1"], "playlist": ["l1"]}
        settings: dict[str, Any] = {"services": services, "policy": "social", **options}
        self.core = AccessPointCore(
            AccessPointOptions(site="sto", node="ap1", aggregators=["a1"], **settings),
            self._verify,
            random.Random(1),
            self._steps.append,
            hook=asks,
            verify_subscription=_subscription,
        )
        self.aggregator, self.presence, self.notification, self.playlist = KeptFrames(), KeptFrames(), KeptFrames(), KeptFrames()
        self.core.announcer.set_view(View(1, ("a1",)))
        self.core.announcer.node_up("a1", self.aggregator)
        for service, outlet in (("presence", self.presence), ("notification", self.notification), ("playlist", self.playlist)):
            self.core.calls.node_up(service, f"{service[0] if service != 'playlist' else 'l'}1", outlet)
        self.outlet = TwinOutlet(self.twin)
        if is_linked:
            self.link()

    def _verify(self, token: str, wall_s: float) -> Identity:
        if token in self.revoked:
            raise Refused("token-revoked")
        return Identity(token, 1e12, grants=self.grants.get(token))

    def link(self) -> None:
        """Links the social service."""
        self.core.calls.node_up("social", "s1", self.outlet)
        self.core.gatekeeper.link_up(self.now_s)
        self.turn()

    def cut(self) -> None:
        """Loses the link."""
        self.outlet.calls.clear()
        self.core.calls.node_down("social", "s1")
        self.core.gatekeeper.link_down()

    def turn(self) -> None:
        """Takes the turns of the loop that were asked for."""
        while self._steps:
            steps, self._steps[:] = self._steps[:], []
            for step in steps:
                step()

    def answer(self, replies: list[Reply] | None = None) -> None:
        """Lets the social service answer all that it was asked, and what follows from that; or gives `replies` that it made before."""
        for reply in replies or []:
            self.core.calls.reply("s1", reply)
        self.turn()
        while replies is None and self.outlet.calls:
            for reply in self.outlet.replies():
                self.core.calls.reply("s1", reply)
            self.turn()

    def tell(self, frame: Barred) -> None:
        """Lets the social service take back answers, and answers what is asked again."""
        self.core.gatekeeper.barred(frame, self.now_s)
        self.answer()

    def tick(self, seconds: float) -> None:
        """Lets time pass."""
        self.now_s += seconds
        self.core.tick(self.now_s, seconds)
        self.turn()

    def client(self, user: str, **hello: Any) -> RecordingSession:
        """Returns a session of `user` that has said hello."""
        session = RecordingSession(self.core, self.now_s)
        session.tell(self.now_s, op="hello", token=user, client="c1", **hello)
        return session

    def holds(self, session: RecordingSession) -> list[bytes]:
        """Returns what a session follows, without its inbox."""
        return sorted(topic for topic in self.core.hub.held(session) if topic[:1] != b"I")


def _subscription(token: str, wall_s: float) -> Identity:
    """Returns the bearer of a subscription token, which is "user expires_s topic"."""
    user, expires_s, topic = token.split()
    if float(expires_s) <= wall_s:
        raise Refused("token-expired")
    return Identity(user, float(expires_s), grants=Grants.of(topics=[topic]))
