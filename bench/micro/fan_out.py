"""`python -m bench.micro.fan_out PLAN` streams one event to very many followers, while small events go to users who are online."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import click
import msgspec
import uvloop

from ..clock import now_us
from ..meter import rss_bytes
from ..servers.stored import StoredSite
from . import audience
from .latencies import Latencies
from .listeners import Listeners, until
from .notice_sender import NoticeSender, lasting, notice, paced
from .stored_rows import RowAudit, audit

EVENT: Final = "fan-out-1"
LISTENERS: Final = 20
# Each small event goes to so many users who are online.
COPIES: Final = 2
SMALL_PER_S: Final = 50.0
# The patience until everything is decided. Then every item is counted too.
REST_S: Final = 10.0


class FanOutPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `target`: the site.
    - `followers`: of the streamed event.
    - `idle_s`: seconds of small events alone before it.
    - `decide_s`: the patience with the rule worker.
    """

    target: StoredSite
    followers: int
    idle_s: float
    decide_s: float


class FanOutFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one fan-out.

    - `taken_s`: from the first byte of the stream until its response.
    - `decided`, `decided_s`: followers that were decided, and the seconds until then. Patience may end before all are.
    - `grown_bytes`: the peak of the module's resident memory, less what it was before.
    - `idle`: latencies of the small events before the stream.
    - `taking`: the same until the response to the stream.
    - `during`: the same until all was decided.
    - `copies_lost`: copies of small events that did not come.
    - `repeated`: requests that were unavailable at first.
    - `audit`: what the store has of the followers.
    """

    taken_s: float
    decided: int
    decided_s: float
    grown_bytes: int
    idle: Latencies
    taking: Latencies
    during: Latencies
    copies_lost: int
    repeated: int
    audit: RowAudit


class SmallEvents:
    """The small events beside the one to all. `due` is when each should have been sent."""

    def __init__(self, users: Listeners, notifier: NoticeSender) -> None:
        self.due: dict[str, int] = {}
        self._users, self._notifier = users, notifier

    async def tell(self, _: int, due_us: int) -> None:
        """Sends the next small event, which was due at `due_us`."""
        number = len(self.due)
        event = f"small-{number}"
        self.due[event] = due_us
        some = [self._users.names[(number + each) % LISTENERS] for each in range(COPIES)]
        await self._notifier.tell(event, some, artist=f"artist{number % 50}")

    async def heard(self) -> None:
        """Waits until every copy came. Raises TimeoutError."""
        await until(lambda: self.lost() == 0)

    def lost(self) -> int:
        """Returns the number of copies that did not come."""
        return sum(COPIES - len(self._users.arrivals[event]) for event in self.due)

    def latencies(self, start_us: int, end_us: int) -> Latencies:
        """Returns the latencies of copies whose events were due between the two moments."""
        arrivals = self._users.arrivals
        return Latencies.of(
            (at_us - due_us) / 1000 for event, due_us in self.due.items() if start_us <= due_us <= end_us for at_us in arrivals[event]
        )


async def measure(plan: FanOutPlan) -> FanOutFigures:
    """Measures small events alone, then beside the stream until all is decided. Then it counts every row."""
    names = [f"online{n}" for n in range(LISTENERS)]
    async with NoticeSender(plan.target) as notifier, Listeners(plan.target, names) as users:
        await users.online(notifier.tell)
        small = SmallEvents(users, notifier)
        begun_us = now_us()
        await paced(SMALL_PER_S, lasting(plan.idle_s), small.tell)
        await small.heard()
        before = await notifier.decided()
        _forget_peak(plan.target.pid)
        before_bytes, start_us = rss_bytes(plan.target.pid), now_us()
        stopped = asyncio.Event()
        telling = asyncio.create_task(paced(SMALL_PER_S, stopped.is_set, small.tell))
        taken = await notifier.stream(lambda: _lines(plan.followers))
        taken_us = now_us()
        # The small events among the decided are so few that they change nothing.
        await notifier.until_decided(before + taken, plan.decide_s)
        decided, decided_us = min(taken, await notifier.decided() - before), now_us()
        stopped.set()
        await telling
        await small.heard()
        beside = COPIES * sum(due_us >= start_us for due_us in small.due.values())
        is_over = decided == taken and await notifier.until_decided(before + taken + beside, REST_S)
        peak_bytes = _peak_bytes(plan.target.pid)
    return FanOutFigures(
        taken_s=(taken_us - start_us) / 1e6,
        decided=decided,
        decided_s=(decided_us - start_us) / 1e6,
        grown_bytes=peak_bytes - before_bytes,
        idle=small.latencies(begun_us, start_us),
        taking=small.latencies(start_us, taken_us),
        during=small.latencies(start_us, decided_us),
        copies_lost=small.lost(),
        repeated=notifier.repeated,
        audit=audit(plan.target, EVENT, set(audience.names(plan.followers)), with_items=is_over),
    )


async def _lines(followers: int) -> AsyncIterator[bytes]:
    yield msgspec.json.encode(notice(EVENT)) + b"\n"
    for line in audience.lines(followers):
        yield line


def _forget_peak(pid: int) -> None:
    """Lets the kernel count the peak of resident memory anew (Linux)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _peak_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"the kernel does not tell the peak of process {pid}")


if __name__ == "__main__":
    click.echo(msgspec.json.encode(uvloop.run(measure(msgspec.json.decode(sys.argv[1], type=FanOutPlan)))))
