"""Plans are carried out on rings that do what they are told, a step for each look."""

from collections.abc import Mapping

import pytest

from segue.cli.ring.ring_plan import WrongPlan, planned
from segue.cli.ring.ring_run import LOOKS_S, RingRun
from segue.sdk.operator_answers import StandingRing
from tests.segue.cli.ring.test_ring_plan import FULL, ring


class Site:
    """A site that goes 64 points in each look. `lags`: how late it is, look by look; `arrivals`: who comes at which look."""

    def __init__(self, site: str = "sto", shares: Mapping[str, int] = FULL) -> None:
        self.site = site
        self.shares, self.goal = dict(shares), dict(shares)
        self.lags: list[float] = []
        self.arrivals: dict[int, str] = {}
        self.asked: list[str] = []
        self.looks = 0

    def state(self, lag_s: float = 0.0) -> StandingRing:
        return ring(self.goal, self.shares, site=self.site, lag_s=lag_s)

    async def ring(self) -> StandingRing:
        self.looks += 1
        if (comes := self.arrivals.pop(self.looks, None)) is not None:
            self.shares[comes] = self.goal[comes] = 0
        for slot, goal in self.goal.items():
            share = self.shares[slot]
            self.shares[slot] = min(share + 64, goal) if share < goal else max(share - 64, goal)
        return self.state(self.lags.pop(0) if self.lags else 0.0)

    async def change_ring(self, site: str, goal: Mapping[str, int], before: Mapping[str, int]) -> StandingRing:
        assert (site, dict(before)) == (self.site, self.goal)
        self.asked.append("change")
        self.goal = dict(goal)
        return self.state()

    async def stop_ring(self, site: str) -> StandingRing:
        self.asked.append("stop")
        self.goal = dict(self.shares)
        return self.state()


class Run:
    """A run over some sites: what it told, and how long it slept."""

    def __init__(self, *sites: Site, wait_s: float = 3 * LOOKS_S) -> None:
        self.told: list[str] = []
        self.slept_s = 0.0
        operators = {site.site: site for site in sites}
        self.run = RingRun(operators, self.told.append, max_lag_s=0.25, wait_s=wait_s, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.slept_s += seconds


async def test_one_site_goes_after_the_other() -> None:
    """DPS-15."""
    sto, lon = Site(), Site("lon")
    plan = planned([sto.state(), lon.state()], (), ("b2",), gentle=False)
    run = Run(sto, lon)
    await run.run.all(plan)
    assert run.told == ["sto: on the way", "sto: done", "lon: on the way", "lon: done"]
    assert (sto.shares, lon.shares) == (FULL | {"b2": 0}, FULL | {"b2": 0})


async def test_what_is_done_is_skipped_when_it_is_run_again() -> None:
    sto = Site(shares=FULL | {"b4": 0, "b5": 0})
    plan = planned([sto.state()], ("b4", "b5"), (), gentle=True)
    await Run(sto).run.all(plan)
    again = Run(sto)
    await again.run.all(plan)
    assert again.told == ["sto: done before", "sto: done before"]
    assert sto.asked == ["change", "change"]


async def test_it_goes_on_where_it_was_interrupted() -> None:
    sto = Site()
    plan = planned([sto.state()], (), ("b2",), gentle=False)
    sto.shares["b2"] = sto.goal["b2"] = 128
    await Run(sto).run.all(plan)
    assert sto.shares == FULL | {"b2": 0}


async def test_while_a_broker_is_late_the_ring_stays_where_it_is() -> None:
    """And goes on when the broker is in time again."""
    sto = Site()
    plan = planned([sto.state()], (), ("b2",), gentle=False)
    sto.lags = [0.0, 0.0, 0.0, 0.3, 0.4, 0.3, 0.1]
    run = Run(sto)
    await run.run.all(plan)
    assert sto.asked == ["change", "stop", "change"]
    assert run.told == ["sto: on the way", "sto: paused, b1 is late by 0.30 s", "sto: on the way", "sto: done"]


async def test_who_is_to_be_added_is_waited_for() -> None:
    sto = Site()
    plan = planned([sto.state()], ("b4",), (), gentle=False)
    sto.arrivals = {4: "b4"}
    await Run(sto).run.all(plan)
    assert sto.shares == FULL | {"b4": 256}
    with pytest.raises(WrongPlan, match="b4 of sto is not there: start it, and run the plan again"):
        await Run(Site()).run.all(plan)


async def test_a_plan_of_yesterday_one_beside_another_and_one_of_more_sites_are_refused() -> None:
    """Two plans at once; nobody else notices."""
    sto = Site()
    plan = planned([sto.state()], (), ("b2",), gentle=False)
    sto.goal = FULL | {"b3": 0}
    with pytest.raises(WrongPlan, match="does not fit sto any more"):
        await Run(sto).run.all(plan)
    assert sto.asked == []
    with pytest.raises(WrongPlan, match="the plan is about sto, too: name a broker of it with --url"):
        await Run(Site("lon")).run.all(plan)


async def test_another_plan_that_begins_in_the_middle_ends_this_one() -> None:
    class Disturbed(Site):
        async def ring(self) -> StandingRing:
            if self.looks == 3:
                self.goal = FULL | {"b1": 0}
            return await super().ring()

    sto = Disturbed()
    with pytest.raises(WrongPlan, match="does not fit sto any more"):
        await Run(sto).run.all(planned([sto.state()], (), ("b2",), gentle=False))
