"""The functions of an application that hear what a client tells beside events and notifications."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Self, TypeVar

from segue.sdk.client_state import State
from segue.sdk.messages import Announcement, Ended, FriendNews, Gap, Offloaded
from segue.sdk.outage import Outage

_LOG: Final = logging.getLogger("segue.sdk.client")
Told = TypeVar("Told")


@dataclass(frozen=True, kw_only=True)
class ClientListeners:
    """The listeners of one client, as in `Client`. What they raise is logged: the client goes on."""

    on_state: Callable[[State], None] | None
    on_offloaded: Callable[[Offloaded], None] | None
    on_ended: Callable[[Ended], None] | None
    on_friends: Callable[[FriendNews], None] | None
    on_gap: Callable[[Gap], None] | None
    on_announcement: Callable[[Announcement], None] | None

    def or_logged(self) -> Self:
        """Returns these listeners, with a warning in the log for what should not pass unheard and nobody listens to."""
        return replace(
            self,
            on_state=self.on_state or Outage(_LOG.warning),
            on_ended=self.on_ended or _warn_of_ended,
            on_gap=self.on_gap or _warn_of_gap,
        )

    def state(self, news: State) -> None:
        """Tells of a new state."""
        _tell("on_state", self.on_state, news)

    def offloaded(self, news: Offloaded) -> None:
        """Tells of topics that left real time, or came back."""
        _tell("on_offloaded", self.on_offloaded, news)

    def ended(self, news: Ended) -> None:
        """Tells of topics that the user may not see any more."""
        _tell("on_ended", self.on_ended, news)

    def friends(self, news: FriendNews) -> None:
        """Tells of topics of friends."""
        _tell("on_friends", self.on_friends, news)

    def gap(self, news: Gap) -> None:
        """Tells of what may be missing."""
        _tell("on_gap", self.on_gap, news)

    def announcement(self, news: Announcement) -> None:
        """Tells what an operator has said."""
        _tell("on_announcement", self.on_announcement, news)


def _tell(name: str, listener: Callable[[Told], None] | None, news: Told) -> None:
    try:
        if listener is not None:
            listener(news)
    except Exception:
        _LOG.exception("%s failed", name)


def _warn_of_ended(news: Ended) -> None:
    for each in news.topics:
        _LOG.warning("%s is followed no longer (%s: %s)", each.topic, each.code, each.reason)


def _warn_of_gap(news: Gap) -> None:
    _LOG.warning("something of %s may be missing (%s)", " ".join(news.topics), news.reason)
