"""Plans of the ring in a simulated life."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.ring import POINTS

from .absences import UserAbsences
from .connections import ANSWERS_S
from .course import LifeCourse
from .operations import USERS

# What a broker may be to have of the ring.
SHARES: Final = (0, POINTS // 4, POINTS // 2, POINTS)
# A change of plan makes something move within this time. So often a life looks whether it does.
MOVES_S: Final = 0.25
MOVING_LOOKS_S: Final = 0.004


class RingPlans:
    """Plans that operators have for the ring, and that they change, also while topics are on their way."""

    def __init__(self, course: LifeCourse, absences: UserAbsences) -> None:
        self._course, self._world = course, course.world
        self._absences = absences

    async def plan(self, where: int, one: int, other: int, how: int, *_: int) -> None:
        """Has a broker do what an operator asks of it: change the shares of the ring at its site, or leave them where they are by now."""
        if brokers := self._world.of("broker"):
            await self._plan_at(brokers[where % len(brokers)], one, other, how)

    async def _plan_at(self, broker: Any, one: int, other: int, how: int) -> None:
        goal = broker.view().goal_of
        slots = list(goal)
        if not slots:
            return
        wanted = {slots[one % len(slots)]: SHARES[how % len(SHARES)], slots[other % len(slots)]: POINTS}

        async def asked() -> None:
            with suppress(Refused, Unavailable):
                await (broker.ring_keeper.aim(goal, wanted) if how % 5 else broker.ring_keeper.stop())

        self._course.changes[broker.site] += 1
        self._course.tell(f"{broker.site}/{broker.node}", f"is asked for {wanted}" if how % 5 else "is asked to leave the ring where it is")
        process = self._world.processes[f"{broker.site}/{broker.node}"]
        self._course.meanwhile(partial(self._is_answered, broker.site, partial(self._world.within, process, asked)))

    async def _is_answered(self, site: str, asked: Callable[[], Awaitable[None]]) -> None:
        """Has an operator wait for the answer of a broker, which may have to ask another one; not for ever, since it may be killed."""
        done, _ = await asyncio.wait([asyncio.ensure_future(asked())], timeout=ANSWERS_S)
        self._course.changes[site] += 1
        for task in done:
            task.result()

    async def replan(self, where: int, one: int, other: int, how: int, *_: int) -> None:
        """Has an operator plan the ring, and then otherwise while topics are on their way. Some are away for that moment."""
        some = [place for place in range(len(USERS)) if how >> place & 1]
        for who in some:
            await self._absences.point(who)
            await self._absences.go_away(who, other)
        await self.plan(where, one, other, how)
        await self._plan_while_topics_move(where, other, one, how // len(SHARES))
        for name in [USERS[who] for who in some if USERS[who] in self._course.away]:
            await self._absences.come_back(name, where | 1, how // len(SHARES))

    async def _plan_while_topics_move(self, where: int, one: int, other: int, how: int) -> None:
        until_s = self._world.loop.now_s + MOVES_S
        while self._world.loop.now_s < until_s:
            await asyncio.sleep(MOVING_LOOKS_S)
            if moving := [broker for broker in self._world.of("broker") if not broker.moves.is_over]:
                await self._plan_at(moving[where % len(moving)], one, other, how)
                return
