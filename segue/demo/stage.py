"""The stage of a run: the data are read and placed, the friendships stored, and the sites started."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from segue.cluster.role_spec import RoleOptions
from segue.cluster.shape import SITES

from .captured import wanted, whole
from .catalogue import DemoCatalogue
from .cluster import Cluster, as_processes, in_this_process, shape, with_store
from .crowd import for_each, need_files
from .dataset import Dataset, load
from .desk import Desk
from .friendships import make_friends
from .placement import Placement, place
from .plan import DemoPlan
from .show import Show
from .store import DemoStore, temporary

WARM_USERS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStage:
    """The stage.

    - `dataset`, `placement`: who plays what, and at which site.
    - `cluster`: the running sites.
    - `catalogue`: what the artist service reads, empty at first.
    """

    dataset: Dataset
    placement: Placement
    cluster: Cluster
    catalogue: DemoCatalogue


@asynccontextmanager
async def stage(plan: DemoPlan, show: Show, services: Sequence[str], mail_port: int) -> AsyncIterator[DemoStage]:
    """Yields the stage of `plan`, and tells `show` each step. It stands while the block runs.

    `services` are those that run beside the notification module; it sends mails to `mail_port` of this machine. Raises SegueError that
    says what to do.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(whole(plan.capture))
        dataset = _read(plan, show)
        placement = _place(plan, show, dataset)
        need_files(len(dataset.friends))
        store = await stack.enter_async_context(temporary(plan.store, plan.cassandra, show))
        catalogue = DemoCatalogue(store.folder / "catalogue.jsonl")
        await _befriend(show, dataset, store)
        engine = shape(SITES[: plan.sites], wanted(plan.capture, store.folder))
        options = with_store(engine, store, services, catalogue.path, mail_port)
        cluster = await stack.enter_async_context(_cluster(plan, show, options))
        if plan.store == "cassandra":
            await _warm(show, cluster, list(dataset.friends)[:WARM_USERS])
        yield DemoStage(dataset=dataset, placement=placement, cluster=cluster, catalogue=catalogue)


def _read(plan: DemoPlan, show: Show) -> Dataset:
    with show.phase("data") as phase:
        dataset = load(plan.data)
        if plan.users is not None:
            dataset = dataset.subset(plan.users, plan.rng("users"))
        friendships = sum(map(len, dataset.friends.values())) // 2
        phase.outcome = f"{len(dataset.friends):,} users, {friendships:,} friendships, {len(dataset.artists):,} artists"
    return dataset


def _place(plan: DemoPlan, show: Show, dataset: Dataset) -> Placement:
    with show.phase("place") as phase:
        events = dataset.total_plays()
        sites = SITES[: plan.sites]
        placement = place(dataset.friends, events, sites, plan.rng("places"))
        numbers = list(placement.site_of.values())
        share = placement.traffic(dataset.friends, events).cross_site_share
        phase.outcome = f"{', '.join(f'{numbers.count(site):,} in {site}' for site in sites)}; {share:.0%} of deliveries will cross"
    return placement


async def _befriend(show: Show, dataset: Dataset, store: DemoStore) -> None:
    """Lets the social service start with the friendships of the data in its store: by its policy only friends hear each other."""
    with show.phase("friends", len(dataset.friends)) as phase:
        await make_friends(store, dataset.friends, phase.one_done)
        phase.outcome = f"all friendships stand in the store of the social service ({store.kind})"


@asynccontextmanager
async def _cluster(plan: DemoPlan, show: Show, options: Sequence[RoleOptions]) -> AsyncIterator[Cluster]:
    sites = SITES[: plan.sites]
    starting = as_processes(options) if plan.has_processes else in_this_process(options, plan.rng("roles"))
    async with AsyncExitStack() as stack:
        with show.phase("cluster") as phase:
            cluster = await stack.enter_async_context(starting)
            await cluster.ready()
            where = "each a process of its own" if plan.has_processes else "all in this process"
            phase.outcome = f"{len(options)} roles in {', '.join(sites)}, {where}; policy {cluster.policy}: friends hear what friends play"
        yield cluster


async def _warm(show: Show, cluster: Cluster, users: Sequence[str]) -> None:
    """Warms a server that has just been started: it is slow until its code is compiled, and everybody at once would be too much."""
    with show.phase("warm", len(users)) as phase:

        async def one(user: str) -> None:
            await desk.look(user)
            phase.one_done()

        async with Desk(cluster.services, cluster.secret) as desk:
            await for_each(users, one)
        phase.outcome = f"{len(users):,} users have looked, so that the server is warm"
