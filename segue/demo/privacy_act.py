"""The privacy act: some users change who may hear them, over the ways that all users have, and play on. Nobody else may hear it then."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Final

from infra.kernel.errors import SegueError
from segue.cluster.tokens import user_token
from segue.sdk.social import Social

from .cast import PrivacyCast
from .cluster import Cluster
from .crowd import Crowd, for_each, topic_of
from .oracle import Ledger, permitted
from .privacy_outcome import PrivacyOutcome
from .show import Show
from .until import until

WAIT_S: Final = 10.0
PLAYS: Final = 5


class PrivacyAct:
    """One run of the privacy act.

    - `cluster`, `crowd`: where everybody is connected, and everybody. What arrives is heard by this act from now on.
    - `cast`: who does what.
    - `friends`: the friends of all, who follow each other.
    - `site_of`: where everybody is.
    """

    def __init__(
        self, cluster: Cluster, crowd: Crowd, cast: PrivacyCast, friends: Mapping[str, Sequence[str]], site_of: Mapping[str, str]
    ) -> None:
        self._cluster, self._crowd, self._cast, self._friends = cluster, crowd, cast, friends
        self._audience_of = permitted(friends, cast.hidden, cast.blocks)
        self._ledger = Ledger(self._audience_of, site_of)
        self._refused = 0

    async def run(self, show: Show) -> PrivacyOutcome:
        """Plays it as a step of `show`, and returns the outcome. Raises SegueError that says what to do."""
        self._crowd.heard = self._ledger.received
        with show.phase("privacy") as phase:
            ends = {(user, topic_of(owner)) for user, owner in self._cast.ends(self._friends)}
            start_s = perf_counter()
            await self._change()
            await until(lambda: ends <= self._crowd.ended, WAIT_S)
            ended_ms = (perf_counter() - start_s) * 1000
            await for_each(self._cast.attempts(self._friends), self._attempt)
            await for_each(self._plays(), self._play)
            await until(lambda: not self._ledger.outstanding, WAIT_S)
            await self._crowd.fence()
            phase.outcome = "some let nobody hear them, block, or play in private; the others hear on"
        return self._outcome(len(ends), len(ends & self._crowd.ended), ended_ms)

    async def _change(self) -> None:
        changes = [self._block(one, other) for one, other in self._cast.blocks]
        changes += [self._silence(user) for user in self._cast.silent]
        changes += [self._crowd.set_private(user) for user in self._cast.private]
        await asyncio.gather(*changes)

    async def _block(self, user: str, other: str) -> None:
        async with self._social(user) as social:
            await social.block(other)

    async def _silence(self, user: str) -> None:
        async with self._social(user) as social:
            await social.set_listening("nobody")

    def _social(self, user: str) -> Social:
        return Social(self._cluster.services["social"], user_token(self._cluster.secret, user))

    async def _attempt(self, pair: tuple[str, str]) -> None:
        if not await self._crowd.may_follow(*pair):
            self._refused += 1

    def _plays(self) -> list[tuple[str, str]]:
        return [(f"private-{number}-{user}", user) for number in range(PLAYS) for user in self._cast.players]

    async def _play(self, play: tuple[str, str]) -> None:
        mark, user = play
        self._ledger.sent(mark, user, perf_counter())
        with suppress(SegueError):  # what is missing then counts as lost
            await self._crowd.play(user, mark)

    def _outcome(self, ended: int, told: int, ended_ms: float) -> PrivacyOutcome:
        found = self._ledger.summary()
        return PrivacyOutcome(
            events=found.events,
            expected=found.expected,
            delivered=found.delivered,
            duplicated=found.duplicated,
            withheld=sum(len(self._friends[user]) for _, user in self._plays()) - found.expected,
            overheard=found.misrouted,
            ended=ended,
            told=told,
            ended_ms=ended_ms,
            attempts=len(self._cast.attempts(self._friends)),
            refused=self._refused,
        )
