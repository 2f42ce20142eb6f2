"""One run of the demo, step by step: read, place, start the sites, connect, follow, play, wait for the rest, sum up."""

import asyncio
import random
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Final

from segue.open_files import need_open_files
from segue.shape import SITES
from segue.state import user_token

from .cluster import Cluster, as_processes, in_this_process, shape
from .crowd import Crowd
from .dataset import Dataset, load
from .figures import Meter
from .listening import schedule
from .oracle import Ledger, audiences
from .outcome import Outcome
from .page import Page
from .placement import Placement, place
from .player import Player
from .show import Phase, Show

SAMPLE_S: Final = 0.25
DRAIN_S: Final = 10.0
POLL_S: Final = 0.02
# Each user's WebSocket has both its ends here; the rest is for links, doors, files and a browser.
FILES_PER_USER: Final = 2
OTHER_FILES: Final = 200
# At the usual rate they play a few times a second, which is as much as one can read.
READABLE_FRIENDS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run. `users` None takes all; `seconds` infinite plays until Ctrl-C; `rate_per_s` is of all plays at `speed` 1."""

    data: Path
    users: int | None
    sites: int
    seconds: float
    speed: float
    rate_per_s: float
    seed: int
    has_processes: bool
    has_page: bool

    def rng(self, what: str) -> random.Random:
        """The chance that decides `what`: users, places, plays or roles. One does not depend on how much the others take."""
        return random.Random(f"{self.seed} {what}")


async def run(plan: Plan, show: Show) -> Outcome:
    """Runs it all. Ctrl-C while it plays ends the playing, and the rest follows. Raises SegueError that says what to do.

    Cancelling it stops everything that it started.
    """
    dataset = _read(plan, show)
    placement = _place(plan, show, dataset)
    audience_of = audiences(dataset.friends, dataset.friends.keys())
    ledger = Ledger(audience_of, placement.site_of)
    need_open_files(len(audience_of) * FILES_PER_USER + OTHER_FILES)
    async with _cluster(plan, show) as cluster:
        doors = {user: cluster.doors[site] for user, site in placement.site_of.items()}
        async with Crowd(doors, partial(user_token, cluster.secret), ledger.received) as crowd:
            await _gather(show, crowd, dataset)
            player = Player(crowd, ledger, audience_of)
            async with _page(show, cluster, dataset.friends, doors) if plan.has_page else nullcontext():
                seconds, behind_s = await _play(plan, show, dataset, player, ledger)
            await _drain(show, crowd, player, ledger)
            rss_bytes, site_messages = await cluster.rss_bytes(), await cluster.site_messages()
        return Outcome(
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
        )


def _read(plan: Plan, show: Show) -> Dataset:
    with show.phase("data") as phase:
        dataset = load(plan.data)
        if plan.users is not None:
            dataset = dataset.subset(plan.users, plan.rng("users"))
        friendships = sum(map(len, dataset.friends.values())) // 2
        phase.outcome = f"{len(dataset.friends):,} users, {friendships:,} friendships, {len(dataset.artists):,} artists"
    return dataset


def _place(plan: Plan, show: Show, dataset: Dataset) -> Placement:
    with show.phase("place") as phase:
        events = dataset.total_plays()
        sites = SITES[: plan.sites]
        placement = place(dataset.friends, events, sites, plan.rng("places"))
        numbers = list(placement.site_of.values())
        share = placement.traffic(dataset.friends, events).cross_site_share
        phase.outcome = f"{', '.join(f'{numbers.count(site):,} in {site}' for site in sites)}; {share:.0%} of deliveries will cross"
    return placement


@asynccontextmanager
async def _cluster(plan: Plan, show: Show) -> AsyncIterator[Cluster]:
    sites = SITES[: plan.sites]
    options = list(shape(sites).options())
    starting = as_processes(options) if plan.has_processes else in_this_process(options, plan.rng("roles"))
    async with AsyncExitStack() as stack:
        with show.phase("cluster") as phase:
            cluster = await stack.enter_async_context(starting)
            await cluster.ready()
            where = "each a process of its own" if plan.has_processes else "all in this process"
            phase.outcome = f"{len(options)} roles in {', '.join(sites)}, {where}"
        yield cluster


async def _gather(show: Show, crowd: Crowd, dataset: Dataset) -> None:
    users = len(dataset.friends)
    with show.phase("connect", users) as phase:
        await crowd.connect(phase.one_done)
        phase.outcome = f"{users:,} users, each on a WebSocket of its own"
    with show.phase("follow", users) as phase:
        await crowd.follow(dataset.friends, phase.one_done)
        phase.outcome = f"{sum(map(len, dataset.friends.values())):,} subscriptions, installed at every site"


@asynccontextmanager
async def _page(show: Show, cluster: Cluster, friends: Mapping[str, Sequence[str]], doors: Mapping[str, str]) -> AsyncIterator[None]:
    """The browser page of a user who has many friends, but not more than one can read about."""
    user = min(friends, key=lambda user: abs(len(friends[user]) - READABLE_FRIENDS))
    async with Page(doors[user], user_token(cluster.secret, user), friends[user]) as page:
        show.say(f"{page.link} shows the feed of {user}, who has {len(friends[user])} friends")
        yield


async def _play(plan: Plan, show: Show, dataset: Dataset, player: Player, ledger: Ledger) -> tuple[float, float]:
    """Plays; the seconds it took, and by how many it was behind when it had to be cut short."""
    plays = schedule(dataset, duration_s=plan.seconds, rng=plan.rng("plays"), speed=plan.speed, rate_per_s=plan.rate_per_s)
    with show.phase("play", None if plan.seconds == inf else plan.seconds, "s") as phase:
        playing = asyncio.create_task(player.run(plays, plan.seconds), name="player")
        try:
            with _ended_by_ctrl_c(playing):
                await _watch(playing, Meter(ledger, perf_counter()), player, phase, show)
        finally:
            playing.cancel()
            await asyncio.wait({playing})
        phase.outcome = f"{ledger.events:,} plays"
    return phase.took_s, 0.0 if playing.cancelled() else playing.result()


async def _watch(playing: asyncio.Task[float], meter: Meter, player: Player, phase: Phase, show: Show) -> None:
    while not playing.done():
        await asyncio.wait({playing}, timeout=SAMPLE_S)
        figures = meter.sample(perf_counter(), player.recent)
        phase.done = figures.elapsed_s
        show.playing(figures)


@contextmanager
def _ended_by_ctrl_c(task: asyncio.Task[float]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def _drain(show: Show, crowd: Crowd, player: Player, ledger: Ledger) -> None:
    """Waits until everything has arrived, or `DRAIN_S`; then for what access points still hold that should not be there."""
    with show.phase("drain") as phase:
        deadline_s = perf_counter() + DRAIN_S
        await player.answered()
        while ledger.outstanding and any(ledger.missing()) and perf_counter() < deadline_s:  # noqa: ASYNC110 - a ledger has no events
            await asyncio.sleep(POLL_S)
        await crowd.fence()
        phase.outcome = "everything arrived" if not any(ledger.missing()) else f"gave up waiting after {DRAIN_S:g} s"
