"""`python -m bench.micro.subscribing PLAN` times subscribes to the feeds of friends: first those nobody asked for, then the same again."""

import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final

import click
import msgspec
import uvloop

from ..plan import Target
from .latencies import Latencies
from .listeners import Listeners
from .notice_sender import paced

# So many subscribes come before all others, to warm statements and connections. Their topics are not used again.
WARMING: Final = 20


class SubscribingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `target`: the site. Its social service knows the friendships of `friendships`.
    - `users`: who subscribe, one after the other.
    - `topics`: topics of one subscribe.
    - `rate`, `number`: subscribes a second by all users together, and how many of them; as many again follow.
    """

    target: Target
    users: int
    topics: int
    rate: float
    number: int

    def friendships(self) -> Iterator[tuple[str, str]]:
        """Yields each user with each friend that they subscribe to."""
        return ((self.user(number), friend) for number in range(WARMING + self.number) for friend in self.friends(number))

    def user(self, number: int) -> str:
        """Returns who makes the subscribe `number`."""
        return f"asker{number % self.users}"

    def friends(self, number: int) -> list[str]:
        """Returns whose feeds the subscribe `number` names. No other one names them."""
        return [f"friend{number}-{n}" for n in range(self.topics)]


class SubscribingFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of subscribes: the time from when one was due until its response came, for new topics and for known ones."""

    new: Latencies
    known: Latencies


async def measure(plan: SubscribingPlan) -> SubscribingFigures:
    """Subscribes to new topics and leaves them, each time, and then does the same with the same topics."""
    async with Listeners(plan.target, [plan.user(n) for n in range(plan.users)]) as users:

        async def waited_ms(number: int, due_us: int) -> float:
            who, topics = number % plan.users, [f"hm://presence/user/{friend}/" for friend in plan.friends(number)]
            at_us = await users.ask(who, "subscribe", topics=topics)
            await users.ask(who, "unsubscribe", topics=topics)
            return (at_us - due_us) / 1000

        async def timed(first: int, number: int) -> Latencies:
            found: list[float] = []

            async def subscribe(n: int, due_us: int) -> None:
                found.append(await waited_ms(first + n, due_us))

            await paced(plan.rate, _after(number), subscribe)
            return Latencies.of(found)

        await timed(0, WARMING)
        return SubscribingFigures(new=await timed(WARMING, plan.number), known=await timed(WARMING, plan.number))


def _after(number: int) -> Callable[[], bool]:
    """Returns a condition that holds from the time on when it has been asked so often."""
    asked = count()
    return lambda: next(asked) >= number


if __name__ == "__main__":
    click.echo(msgspec.json.encode(uvloop.run(measure(msgspec.json.decode(sys.argv[1], type=SubscribingPlan)))))
