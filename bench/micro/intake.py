"""`python -m bench.micro.intake PLAN`: how long a service waits for its answer, for notices with an audience each."""

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
    """Notices to `followers` each, drawn out of `people`, none of whom is online."""

    target: StoredSite
    followers: int
    people: int
    rate: float
    seconds: float
    warmup_s: float = 1.0


async def measure(plan: IntakePlan) -> Latencies:
    """From when a notice was due until its answer was there: then it is stored. The first second warms statements and connections."""
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
