"""Carrying out a plan: each round is begun, waited for, and paused while brokers have too much to do."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import groupby
from typing import Final, Protocol

from segue.sdk.operator_answers import StandingRing

from .ring_plan import RingPlan, RingRound, RoundStanding, WrongPlan, next_round, standing

LOOKS_S: Final = 0.5


class RingOperator(Protocol):
    """The part of an Operator that changes the ring of its site."""

    async def ring(self) -> StandingRing:
        """Returns the ring as it stands."""

    async def change_ring(self, site: str, goal: Mapping[str, int], before: Mapping[str, int]) -> StandingRing:
        """Has the ring go to `goal`. Raises Refused where it is not to go to `before`."""

    async def stop_ring(self, site: str) -> StandingRing:
        """Has the ring stay where it is."""


class RingRun:
    """The carrying out of plans.

    - `operators`: a way to a broker of each site. `tell(line)`: is told what happens.
    - `max_lag_s`: while the loop of a broker is late by more, its ring stays where it is.
    - `wait_s`: so long a broker is waited for that is to be added.
    - `sleep(seconds)`: waits.
    """

    def __init__(
        self,
        operators: Mapping[str, RingOperator],
        tell: Callable[[str], object],
        *,
        max_lag_s: float,
        wait_s: float,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._operators, self._tell, self._max_lag_s, self._wait_s, self._sleep = operators, tell, max_lag_s, wait_s, sleep

    async def all(self, plan: RingPlan) -> None:
        """Carries out what of `plan` is not done yet. Raises WrongPlan, Refused, ConnectionLost."""
        for site, group in groupby(plan.rounds, lambda each: each.site):
            if site not in self._operators:
                raise WrongPlan(f"the plan is about {site}, too: name a broker of it with --url")
            await self._site(self._operators[site], list(group))

    async def _site(self, operator: RingOperator, rounds: Sequence[RingRound]) -> None:
        state = await operator.ring()
        first = next_round(rounds, state)
        for each in rounds[:first]:
            self._tell(f"{each.site}: done before")
        for each in rounds[first:]:
            await self._round(operator, each)

    async def _round(self, operator: RingOperator, each: RingRound) -> None:
        waited_s, is_paused, is_begun = 0.0, False, False
        while True:
            state = await operator.ring()
            match standing(each, state):
                case RoundStanding.DONE:
                    self._tell(f"{each.site}: done" if is_begun else f"{each.site}: done before")
                    return
                case RoundStanding.STRANGE:
                    next_round([each], state)  # says what is wrong
                case RoundStanding.ABSENT if waited_s >= self._wait_s:
                    absent = sorted(slot for slot, share in each.goal.items() if share and slot not in state.goal_of)
                    raise WrongPlan(f"{', '.join(absent)} of {each.site} is not there: start it, and run the plan again")
                case RoundStanding.ABSENT:
                    waited_s += LOOKS_S
                case RoundStanding.OPEN if state.lag_s > self._max_lag_s:
                    if not is_paused:
                        self._tell(f"{each.site}: paused, {state.broker} is late by {state.lag_s:.2f} s")
                        await operator.stop_ring(each.site)
                    is_paused = True
                case RoundStanding.OPEN:
                    is_paused, is_begun = False, True
                    if any(state.goal_of.get(slot, 0) != share for slot, share in each.goal.items()):
                        self._tell(f"{each.site}: on the way")
                        await operator.change_ring(each.site, each.goal, state.goal_of)
            await self._sleep(LOOKS_S)
