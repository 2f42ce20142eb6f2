"""Inboxes: each session follows its own without asking, and gets what was stored while nobody could tell it live. Pure."""

from collections.abc import Collection
from functools import partial
from typing import Final

from infra.kernel.announcer import Announcer
from infra.kernel.backoff import Rng
from infra.kernel.every_one import for_every_one
from infra.kernel.roles import NOTIFICATION
from infra.kernel.topics import inbox_topic

from .calls import Calls
from .catch_up import CatchUp
from .options import AccessPointOptions
from .relay import Relay
from .session import Session, SessionState
from .subscriptions import Subscriptions

# What an access point asks for a client that has not asked.
FIRST_PULL: Final = b'{"op":"pull","limit":50}'


class Inboxes:
    """The inboxes of `sessions`. Without a notification module there are none, and nothing is done."""

    def __init__(
        self,
        options: AccessPointOptions,
        sessions: Collection[Session],
        rng: Rng,
        *,
        announcer: Announcer,
        subscriptions: Subscriptions,
        calls: Calls,
        relay: Relay,
    ) -> None:
        self.catch_up = CatchUp(options, sessions, rng)
        self._are_there = NOTIFICATION in options.services
        self._announcer, self._subscriptions, self._calls, self._relay = announcer, subscriptions, calls, relay
        self._restored = 0

    def open(self, session: Session, now_s: float) -> None:
        """Has `session` follow its inbox from now on, and pulls once for the client, so that it need not ask (SB-11).

        The pull waits until the inbox is installed at all sites: what is stored before that is in the answer, what is stored
        after it comes live, and nothing falls between the two. The service has as long to answer as for any other call, however
        long the inbox has taken.
        """
        if not self._are_there:
            return

        def pull(installed: str, missing_sites: list[str], installed_s: float) -> None:
            if session.state is SessionState.READY and self._calls.has(NOTIFICATION):
                self._relay.ask(session, "pull", FIRST_PULL, None, installed_s)

        # In this order: the wait is for all that was announced before it, and the inbox must be among that.
        self._subscriptions.add(session, [inbox_topic(session.user)])
        self._subscriptions.when_installed("all", now_s, pull)

    def tick(self, now_s: float, period_s: float) -> None:
        """Pulls what was stored while inboxes were not installed, once they are again and a notification module can be asked.

        It is called every `period_s`.
        """
        if not self._are_there:
            return
        if self._announcer.restored != self._restored:
            self._restored = self._announcer.restored
            self.catch_up.want()
        if self._calls.has(NOTIFICATION):
            for_every_one(
                partial(self._relay.catch_up, session, FIRST_PULL, self.catch_up, now_s) for session in self.catch_up.due(now_s, period_s)
            )
