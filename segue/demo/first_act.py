"""The first act: everybody connects, follows, plays and listens; then what is still under way arrives. Some then change who may hear."""

import asyncio
from functools import partial
from math import inf
from time import perf_counter
from typing import Final

from infra.runtime.event_loop import ended_by_ctrl_c
from segue.cluster.tokens import user_token

from .cast import cast
from .cluster import Cluster
from .crowd import Crowd
from .dataset import Dataset
from .figures import Meter
from .listening import schedule
from .oracle import Ledger, audiences
from .outcome import DemoOutcome
from .placement import Placement
from .plan import DemoPlan
from .player import Player
from .privacy_act import PrivacyAct
from .show import Show, ShowPhase
from .until import until

SAMPLE_S: Final = 0.25
DRAIN_S: Final = 10.0


async def first_act(plan: DemoPlan, show: Show, dataset: Dataset, placement: Placement, cluster: Cluster) -> DemoOutcome:
    """Plays the first act of `plan` and returns its outcome.

    - `show`: is told every step.
    - `dataset`, `placement`: who plays what, and at which site.
    - `cluster`: where everybody connects, and only during this act.

    Ctrl-C while they play ends the playing. Raises SegueError that says what to do.
    """
    audience_of = audiences(dataset.friends, dataset.friends.keys())
    ledger = Ledger(audience_of, placement.site_of)
    doors = {user: cluster.doors[site] for user, site in placement.site_of.items()}
    async with Crowd(doors, partial(user_token, cluster.secret), ledger.received) as crowd:
        await crowd.gather(dataset.friends, show)
        player = Player(crowd, ledger, audience_of)
        seconds, behind_s = await _play(plan, show, dataset, player, ledger)
        await _drain(show, crowd, player, ledger)
        rss_bytes, site_messages = await cluster.rss_bytes(), await cluster.site_messages()
        act = PrivacyAct(cluster, crowd, cast(dataset.friends), dataset.friends, placement.site_of)
        privacy = await act.run(show)
    return DemoOutcome(
        summary=ledger.summary(),
        seconds=seconds,
        rss_bytes=rss_bytes,
        users=len(doors),
        sites=plan.sites,
        seed=plan.seed,
        site_messages=site_messages,
        reconnects=crowd.reconnects,
        refused=player.refused,
        refusal=player.refusal,
        behind_s=behind_s,
        first_missing=next(ledger.missing(), None),
        policy=cluster.policy,
        privacy=privacy,
    )


async def _play(plan: DemoPlan, show: Show, dataset: Dataset, player: Player, ledger: Ledger) -> tuple[float, float]:
    """Plays. Returns how many seconds it took, and by how many it was behind when it had to be cut short."""
    plays = schedule(dataset, duration_s=plan.seconds, rng=plan.rng("plays"), speed=plan.speed, rate_per_s=plan.rate_per_s)
    with show.phase("play", None if plan.seconds == inf else plan.seconds, "s") as phase:
        playing = asyncio.create_task(player.run(plays, plan.seconds), name="player")
        try:
            with ended_by_ctrl_c(playing):
                await _watch(playing, Meter(ledger, perf_counter()), player, phase, show)
        finally:
            playing.cancel()
            await asyncio.wait({playing})
        phase.outcome = f"{ledger.events:,} plays"
    return phase.took_s, 0.0 if playing.cancelled() else playing.result()


async def _watch(playing: asyncio.Task[float], meter: Meter, player: Player, phase: ShowPhase, show: Show) -> None:
    while not playing.done():
        await asyncio.wait({playing}, timeout=SAMPLE_S)
        figures = meter.sample(perf_counter(), player.recent)
        phase.done = figures.elapsed_s
        show.playing(figures)


async def _drain(show: Show, crowd: Crowd, player: Player, ledger: Ledger) -> None:
    """Waits until everything has arrived, for `DRAIN_S` at most. Then it waits for what access points hold and should not hold."""
    with show.phase("drain") as phase:
        await player.answered()
        await until(lambda: not (ledger.outstanding and any(ledger.missing())), DRAIN_S)
        await crowd.fence()
        phase.outcome = "everything arrived" if not any(ledger.missing()) else f"gave up waiting after {DRAIN_S:g} s"
