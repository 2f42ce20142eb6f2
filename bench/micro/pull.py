"""`python -m bench.micro.pull PLAN` times clients that ask through an access point for what they have missed."""

import random
import sys
from typing import Final

import click
import msgspec
import uvloop

from ..clock import now_us
from ..servers.stored import StoredSite
from .latencies import Latencies
from .listeners import Listeners
from .notice_sender import NoticeSender, lasting, notice, paced

# How many notices go into one request while histories are made.
BATCH: Final = 20
MAKE_S: Final = 120.0


class PullPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `target`: the site.
    - `users`, `history`: users, and the items that each of them has.
    - `limit`: items of one pull.
    - `rate`: pulls a second by all users together, for `seconds`.
    - `warmup_s`: time before, to warm statements and connections.
    """

    target: StoredSite
    users: int
    history: int
    limit: int
    rate: float
    seconds: float
    warmup_s: float = 1.0


class PullFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of pulls. `waited` is the time from when a pull was due until its response came."""

    pulls_per_s: float
    waited: Latencies


async def measure(plan: PullPlan) -> PullFigures:
    """Makes histories, then pulls. A pull begins anywhere in a history where `limit` items are left."""
    names, rng = [f"reader{n}" for n in range(plan.users)], random.Random(1)
    waited_ms: list[float] = []
    async with NoticeSender(plan.target) as notifier:
        before = await notifier.decided()
        for start in range(0, plan.history, BATCH):
            await notifier.tell_all([notice(f"past-{n}", names) for n in range(start, min(start + BATCH, plan.history))])
        if not await notifier.until_decided(before + plan.history * plan.users, MAKE_S):
            raise TimeoutError(f"the histories were not made within {MAKE_S:g} s")
        async with Listeners(plan.target, names) as users:

            async def pull(number: int, due_us: int) -> None:
                since = rng.randrange(plan.history - plan.limit + 1)
                at_us = await users.ask(number % plan.users, "pull", since=since, limit=plan.limit)
                waited_ms.append((at_us - due_us) / 1000)

            await paced(plan.rate, lasting(plan.warmup_s), pull)
            waited_ms.clear()
            begun_us = now_us()
            await paced(plan.rate, lasting(plan.seconds), pull)
            seconds = (now_us() - begun_us) / 1e6
    return PullFigures(pulls_per_s=len(waited_ms) / seconds, waited=Latencies.of(waited_ms))


if __name__ == "__main__":
    click.echo(msgspec.json.encode(uvloop.run(measure(msgspec.json.decode(sys.argv[1], type=PullPlan)))))
