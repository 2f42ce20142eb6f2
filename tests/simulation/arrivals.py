"""Arrivals of events in a simulated life: what was accepted comes to those who follow its topic."""

from typing import Any

from .course import LifeCourse
from .network import SLOWEST_S
from .operations import PLAYLISTS
from .oracle import Follower, Violated
from .returns import ARRIVES_S

# Who follows a topic, and how often they had given it up before: who gives it up and follows it anew may miss something.
Followers = dict[Follower, int]


class EventArrivals:
    """Looks whether what was accepted arrives: soon while nothing is wrong, and in the end where only links were cut."""

    def __init__(self, course: LifeCourse) -> None:
        self._course, self._world, self._oracle = course, course.world, course.oracle
        # What was accepted while links were cut, and who was told that they follow it; what was the same all the time, if only they were.
        self._owed: list[tuple[str, set[int], Followers]] = []
        self._lasting: list[Any] = []

    async def arrived(self, topic: str, numbers: set[int], late: Followers) -> None:
        """Waits until those who followed a topic, and still do, have its events. Raises Violated where they do not come.

        Where there is little room, what waits may go from the window, or be dropped on the way to an access point: then nothing is sure.
        """

        def missing() -> list[Follower]:
            return [
                each
                for each, times in late.items()
                if not numbers <= each.got.keys()
                and each.still_follows(topic, times)
                and not (self._may_skip(topic) and self._oracle.has_newest(each, topic, numbers))
            ]

        if self._world.room.gaps:
            return
        await self._course.until(lambda: not missing(), ARRIVES_S)
        if (names := [each.name for each in missing()]) and not self._course.faults:
            raise Violated(f"nothing is wrong, and {names} never got {sorted(numbers)} of {topic}")
        self._oracle.looked_at["promised"] += 1

    def _may_skip(self, topic: str) -> bool:
        """Tells whether only the newest event of a topic must come: others wait in the window behind a link that is full."""
        return topic not in PLAYLISTS and self._world.room.has_full_links

    def _what_lasts(self) -> list[Any]:
        """Returns what does not change while nothing but links to brokers is cut, for less time than windows are long."""
        brokers = self._world.of("broker")
        return [
            *self._world.roles.values(),
            *((broker.mesh.era() or object(), broker.core.laggards.lost) for broker in brokers),
            *(point.upstream.source.link for point in self._world.of("accesspoint")),
            *(each.links.drops for each in [*brokers, *self._world.of("aggregator")]),
        ]

    async def check_owed(self) -> None:
        """Looks whether those who were behind cut links have got everything (DPS-10). Raises Violated where they have not.

        What went over a link that was slow may still be on its way, and what was sent behind it.
        """
        owed, self._owed = self._owed, []
        if self._lasting != self._what_lasts():
            return
        await self._course.until(lambda: not any(self._missing(*each) for each in owed), SLOWEST_S)
        if self._lasting != self._what_lasts():
            return
        for topic, numbers, followers in owed:
            for follower, missing in self._missing(topic, numbers, followers).items():
                raise Violated(f"only links were cut, and {follower.name} never got {sorted(missing)} of {topic}")
            self._oracle.looked_at["resumed"] += len(followers)

    def _missing(self, topic: str, numbers: set[int], followers: Followers) -> dict[Follower, set[int]]:
        """Returns who has followed `topic` all the time, and has not got all of `numbers`, each with what they lack."""
        lacking = {each: numbers - each.got.keys() for each, times in followers.items() if each.still_follows(topic, times)}
        return {each: missing for each, missing in lacking.items() if missing}

    def owe(self, topics: dict[str, set[int]], waiting: dict[str, Followers]) -> None:
        """Notes what was accepted while something was wrong, by topic, and who was told by then that they follow it."""
        if self._world.room.keeps_all:
            self._owed += ((topic, numbers, waiting[topic]) for topic, numbers in topics.items() if topic in PLAYLISTS)

    def begin_anew(self) -> None:
        """Notes what is the same from now on for as long as nothing but links are cut."""
        self._lasting = self._what_lasts()
