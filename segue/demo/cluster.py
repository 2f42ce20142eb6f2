"""The cluster that the demo plays on: every role of some sites, all in this process or each in a process of its own."""

import asyncio
import random
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp
import msgspec

from accesspoint.options import AccessPointOptions
from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import SegueError
from infra.runtime.stats import Stats, StatsReader
from infra.runtime.tokens import ensure_secret, read_secret
from notification.core import Patience
from notification.email import EmailOptions
from notification.options import NotificationOptions
from notification.push import PushOptions
from segue.cli.top.command import poll
from segue.cluster.factory import RoleFactory
from segue.cluster.fleet import Fleet
from segue.cluster.process import Process
from segue.cluster.role_spec import RoleOptions
from segue.cluster.shape import Shape
from services.artist.options import ArtistOptions
from services.presence.options import PresenceOptions

from .store import DemoStore

SECRET_BYTES: Final = 32
GRACE_S: Final = 0.5
PATIENCE_S: Final = 0.5
READY_S: Final = 20.0
POLL_S: Final = 0.02
NO_CAPTURE: Final = CaptureOptions()
# The services whose HTTP doors the demo uses.
DESKS: Final = ("artist", "social", "playlist", "notification")


class ClusterError(SegueError):
    """A cluster that is not what was asked for. The message says what is missing and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A running cluster.

    - `doors`: the WebSocket URL of each site.
    - `services`: the HTTP URL of each of `DESKS` that runs.
    - `secret`: signs tokens for all.
    - `policy`: what decides who hears whom.
    - `stats`: asks every process of the cluster, this one included. It raises ClusterError when one does not answer.
    """

    doors: Mapping[str, str]
    services: Mapping[str, str]
    secret: bytes
    policy: str
    stats: Callable[[], Awaitable[Sequence[Stats]]]

    async def rss_bytes(self) -> float | None:
        """Returns the memory of all processes together; None where the platform does not tell."""
        sizes = [each.process.rss_bytes for each in await self.stats()]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    async def site_messages(self) -> int:
        """Returns how many copies of events brokers have sent to brokers of other sites so far."""
        counters = [role.counters for each in await self.stats() for role in each.roles if role.role == "broker"]
        return sum(int(copies) for each in counters if isinstance(copies := each["broker_site_copies_total"], int | float))

    async def ready(self) -> None:
        """Waits until every role is ready. Raises ClusterError that says which are not."""
        deadline_s = asyncio.get_running_loop().time() + READY_S
        while waiting := _waiting(await self.stats()):
            if asyncio.get_running_loop().time() > deadline_s:
                raise ClusterError(f"not ready after {READY_S:g} s: {'; '.join(waiting)}. Is this machine very busy? Try again later.")
            await asyncio.sleep(POLL_S)


def _waiting(stats: Sequence[Stats]) -> list[str]:
    roles = [role for each in stats for role in each.roles if role.not_ready is not None]
    return [f"{role.role} {role.site}/{role.node}: {role.not_ready}" for role in roles]


@asynccontextmanager
async def in_this_process(options: Sequence[RoleOptions], rng: random.Random) -> AsyncIterator[Cluster]:
    """Runs the roles of `options` in this process, on memory links. Their secret is never written down; `rng` is their randomness."""
    secret = secrets.token_bytes(SECRET_BYTES)
    async with Process(RoleFactory.local(secret, rng), options) as process:
        reader = StatsReader(process.roles, lambda: 0.0)

        async def stats() -> list[Stats]:
            return [reader.read()]

        doors = {point.site: _url(point.address) for point in process.of("accesspoint")}
        services = {name: f"http://{role.address}" for name in DESKS for role in process.of(name)}
        yield Cluster(doors=doors, services=services, secret=secret, policy=_policy(options), stats=stats)


@asynccontextmanager
async def as_processes(options: Sequence[RoleOptions]) -> AsyncIterator[Cluster]:
    """Runs each role of `options` in a process of its own, on TCP. Their configuration and secret go when they go."""
    with tempfile.TemporaryDirectory(prefix="segue-demo-") as directory:
        secret_file = ensure_secret(Path(directory))
        async with Fleet(options, secret_file, Path(directory)) as fleet, aiohttp.ClientSession() as http:
            reader = StatsReader([], lambda: 0.0)

            async def stats() -> list[Stats]:
                return [reader.read(), *await _ask(http, [child.admin for child in fleet.children])]

            doors = {child.site: _url(child.door) for child in fleet.of("accesspoint")}
            services = {name: f"http://{child.door}" for name in DESKS for child in fleet.of(name)}
            yield Cluster(doors=doors, services=services, secret=read_secret(secret_file), policy=_policy(options), stats=stats)


async def _ask(http: aiohttp.ClientSession, admins: Sequence[str]) -> list[Stats]:
    answers = await poll(http, admins)
    silent = [f"{admin} ({answer.reason})" for admin, answer in answers.items() if not isinstance(answer, Stats)]
    if silent:
        raise ClusterError(f"a process of the cluster does not answer at {', '.join(silent)}; its last words are above")
    return [answer for answer in answers.values() if isinstance(answer, Stats)]


def _policy(options: Sequence[RoleOptions]) -> str:
    return ", ".join(sorted({str(each.policy) for each in options if isinstance(each, AccessPointOptions)}))


def _url(address: str) -> str:
    return f"ws://{address}"


def shape(sites: Sequence[str], capture: CaptureOptions = NO_CAPTURE) -> Shape:
    """Returns a shape with two brokers at every site, so that the ring has a choice, and one of every other role of the engine."""
    return Shape(sites=tuple(sites), brokers=2, capture=capture)


def with_store(shape: Shape, store: DemoStore, services: Sequence[str], catalogue: Path, mail_port: int) -> list[RoleOptions]:
    """Returns the options of `shape`, and of the `services` of the demo, which keep what they store in `store`.

    The artist service reads `catalogue`; mails go to `mail_port`. What takes a minute in life takes less than a second here: until a user
    who has gone counts as offline, and until a mail goes out. The daily job runs only when it is asked to.
    """
    kept = msgspec.structs.replace(
        shape,
        notification=1,
        services=tuple(services),
        state=store.folder,
        store=store.kind,
        cassandra=store.cassandra,
        catalogue=str(catalogue),
    )
    return [_quick(options, mail_port) for options in kept.options()]


def _quick(options: RoleOptions, mail_port: int) -> RoleOptions:
    match options:
        case PresenceOptions():
            return msgspec.structs.replace(options, grace_s=GRACE_S, jitter_s=0.0)
        case ArtistOptions():
            return msgspec.structs.replace(options, at="")
        case NotificationOptions():
            email = EmailOptions(host="127.0.0.1", port=mail_port, sender="Segue <demo@example.org>", starttls="never")
            push = PushOptions(contact="mailto:demo@example.org", allow_loopback=True)
            return msgspec.structs.replace(options, email=email, push=push, patience=Patience(email_s=PATIENCE_S))
        case _:
            return options
