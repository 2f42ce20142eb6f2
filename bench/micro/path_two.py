"""`python -m bench.micro.path_two PLAN` sends notices through the store to users who are online, and events through the engine alone."""

import asyncio
import random
import sys
from typing import Final

import click
import msgspec
import uvloop

from ..clock import now_us
from ..servers.stored import StoredSite
from .latencies import Latencies
from .listeners import Listeners, until
from .notice_sender import NoticeSender, lasting, notice, paced

# A copy that comes later than this after the last event counts as lost.
LATE_S: Final = 20.0
TOPIC: Final = "hm://presence/user/star/"


class PathTwoPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `target`: the site.
    - `listeners`: users who are online on path 2.
    - `followers`: of each notice, drawn out of them.
    - `rate`, `batch`: notices a second, and notices in a request.
    - `direct_rate`, `direct_listeners`: events of path 1 a second, each to so many other users.
    - `seconds`: how long.
    """

    target: StoredSite
    listeners: int
    followers: int
    rate: float
    batch: int
    direct_rate: float
    direct_listeners: int
    seconds: float


class PathTwoFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of both paths. Latencies count from when an event was due until a copy came.

    - `notices_per_s`: the rate at which the module took notices.
    - `stored`: latencies of path 2.
    - `direct`: latencies of path 1.
    - `repeated`: notices and requests that were taken at a later try only.
    - `lost`: copies that did not come in time.
    - `doubled`: copies that came twice.
    """

    notices_per_s: float
    stored: Latencies
    direct: Latencies
    repeated: int
    lost: int
    doubled: int


class Spoken:
    """The events of one path: `due` says when each was due. Each must make `copies` copies."""

    def __init__(self, users: Listeners, copies: int) -> None:
        self.due: dict[str, int] = {}
        self._users, self._copies = users, copies

    def latencies(self) -> Latencies:
        """Returns the latencies of all copies."""
        return Latencies.of((at_us - due_us) / 1000 for event, due_us in self.due.items() for at_us in self._users.arrivals[event])

    def missing(self) -> int:
        """Returns the number of copies that have not come."""
        return sum(max(0, self._copies - len(self._users.arrivals[event])) for event in self.due)

    def doubled(self) -> int:
        """Returns the number of copies beyond those that were due."""
        return sum(max(0, len(self._users.arrivals[event]) - self._copies) for event in self.due)


async def measure(plan: PathTwoPlan) -> PathTwoFigures:
    """Measures both paths at the same time, in the same process."""
    names = [f"online{n}" for n in range(plan.listeners)]
    direct_names = [f"direct{n}" for n in range(plan.direct_listeners)]
    async with (
        NoticeSender(plan.target) as notifier,
        Listeners(plan.target, names) as users,
        Listeners(plan.target, direct_names, follows=[TOPIC]) as followers,
    ):
        await users.online(notifier.tell)
        stored, direct = Spoken(users, plan.followers), Spoken(followers, plan.direct_listeners)
        rng = random.Random(1)

        async def tell(number: int, due_us: int) -> None:
            events = {f"stored-{number}-{each}": rng.sample(names, plan.followers) for each in range(plan.batch)}
            stored.due.update(dict.fromkeys(events, due_us))
            await notifier.tell_all([notice(event, some, f"artist{number % 50}") for event, some in events.items()])

        async def publish(number: int, due_us: int) -> None:
            direct.due[f"direct-{number}"] = due_us
            await notifier.publish(f"direct-{number}", TOPIC)

        begun_us, over = now_us(), lasting(plan.seconds)
        await asyncio.gather(paced(plan.rate / plan.batch, over, tell), paced(plan.direct_rate, over, publish))
        taken_s = (now_us() - begun_us) / 1e6
        await _heard(stored, direct)
    return PathTwoFigures(
        notices_per_s=len(stored.due) / taken_s,
        stored=stored.latencies(),
        direct=direct.latencies(),
        repeated=notifier.repeated,
        lost=stored.missing() + direct.missing(),
        doubled=stored.doubled() + direct.doubled(),
    )


async def _heard(*paths: Spoken) -> None:
    """Waits until no copy is missing, or for `LATE_S`: then the missing ones count as lost."""
    try:
        await until(lambda: not any(path.missing() for path in paths), LATE_S)
    except TimeoutError:
        return


if __name__ == "__main__":
    click.echo(msgspec.json.encode(uvloop.run(measure(msgspec.json.decode(sys.argv[1], type=PathTwoPlan)))))
