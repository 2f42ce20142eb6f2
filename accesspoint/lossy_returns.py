"""Lossy returns: who came back with numbers, and was told of a loss, gets nothing that they have when this access point recovers. Pure.

What an access point has missed itself, it gives to everybody (`recoveries`). A client that comes from another access point may have got
further than this one, and has said its numbers. Where its question is answered, what it has does not come. Where that is late, what the
access point gets later may have it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from infra.kernel.events import origin_epoch_seq
from infra.kernel.topics import Topic

from .hub import Hub
from .session import Session

Known = Sequence[tuple[str, int, int]]
"""The last number of each site that somebody has, with its epoch."""


class _LossyReturn(NamedTuple):
    number: int
    known: Known


class LossyReturns:
    """Those who have said numbers, in `hub`, by topic. They are forgotten when the access point has what it missed of the topic."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._returns: dict[Topic, dict[Session, _LossyReturn]] = {}

    def __len__(self) -> int:
        """Returns how many there are, once for each of their topics."""
        return sum(map(len, self._returns.values()))

    def note(self, session: Session, topic: Topic, number: int, known: Known) -> None:
        """Notes that `session` had `known` of `topic`, and was told of a loss in its recovery `number`."""
        if known:
            self._returns.setdefault(topic, {})[session] = _LossyReturn(number, known)

    def forget(self, session: Session, topic: Topic) -> None:
        """Forgets what `session` had of `topic`: it is gone, has left the topic, or asks anew."""
        if (returns := self._returns.get(topic)) is not None:
            returns.pop(session, None)
            if not returns:
                del self._returns[topic]

    def hold(self, topic: Topic) -> None:
        """Has them get nothing of `topic` before `go_on`."""
        for session, each in self._returns.get(topic, {}).items():
            self._hub.join_later(session, topic, each.number)

    def go_on(self, topic: Topic, bodies: list[bytes], *, is_whole: bool) -> None:
        """Gives them what they do not have of what was missed of `topic`. `is_whole`: that is all, so nothing older comes from now on."""
        for session, each in self._returns.get(topic, {}).items():
            self._hub.join_now(session, topic, each.number, unknown(bodies, each.known))
        if is_whole:
            self._returns.pop(topic, None)


def unknown(bodies: Sequence[bytes], known: Known) -> list[bytes]:
    """Returns those of `bodies`, in order, that come behind what is `known` of their site."""
    lasts = {(site, epoch): seq for site, epoch, seq in known}
    places = [origin_epoch_seq(body) for body in bodies]
    # What comes before a known one of its site is known, too, also where it has another epoch.
    ends = {site: at for at, (site, epoch, seq) in enumerate(places) if seq <= lasts.get((site, epoch), 0)}
    return [body for at, (body, (site, _, _)) in enumerate(zip(bodies, places, strict=True)) if at > ends.get(site, -1)]
