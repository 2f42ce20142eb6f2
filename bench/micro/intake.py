"""`python -m bench.micro.intake PLAN` measures how long a service waits for the response to a notice with its audience."""

import random
import sys

import click
import msgspec
import uvloop

from ..clock import now_us
from ..servers.stored import StoredSite
from . import audience
from .latencies import Latencies
from .notice_sender import NoticeSender, lasting, paced


class IntakePlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `target`: the site.
    - `followers`: of each notice, drawn out of `people`, none of whom is online.
    - `rate`: notices a second, for `seconds`.
    - `warmup_s`: time before, to warm statements and connections.
    """

    target: StoredSite
    followers: int
    people: int
    rate: float
    seconds: float
    warmup_s: float = 1.0


async def measure(plan: IntakePlan) -> Latencies:
    """Measures from when a notice was due until its response came. Then it is stored."""
    rng, people = random.Random(1), list(audience.names(plan.people))
    waited_ms: list[float] = []

    async with NoticeSender(plan.target) as notifier:

        async def tell(number: int, due_us: int) -> None:
            await notifier.tell(f"intake-{due_us}", rng.sample(people, plan.followers), artist=f"artist{number % 50}")
            waited_ms.append((now_us() - due_us) / 1000)

        await paced(plan.rate, lasting(plan.warmup_s), tell)
        waited_ms.clear()
        await paced(plan.rate, lasting(plan.seconds), tell)
    return Latencies.of(waited_ms)


if __name__ == "__main__":
    click.echo(msgspec.json.encode(uvloop.run(measure(msgspec.json.decode(sys.argv[1], type=IntakePlan)))))
