"""The keeper of a node's lease: carries out what `Ownership` decides, with the store and a clock.

Whatever is asked of the store here is tried again with the next beat. A write whose answer was lost may have been done: the
next reading tells.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

from infra.kernel.errors import Unavailable
from infra.runtime.ending import end_tasks

from ..epoch import StoreEpoch
from ..module_context import ModuleContext
from ..options import NotificationOptions
from .core import FencingToken, NodeRecord, Ownership, Steps
from .holdings import Holdings
from .life import Life

# Beats in the time after which a silent node is dead.
BEATS: Final = 5
# Others may change the claims between our reading and our writing.
ROUNDS: Final = 20

T = TypeVar("T")


def boot_time_s() -> float:
    """Returns seconds that only go forward, and go on while the machine sleeps, where the system tells that.

    A node that has slept must not believe that its lease still holds.
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Keeper:
    """The lease and the shards of one node among those that share a store.

    - `module`: the store, the clock and the log.
    - `options`: the site, and `lease_s`.
    - `life`: gives the node its names.
    - `epoch`: read with each beat.
    - `holdings`: works on the shards.
    - `on_change`: called when something is known that was not: other claims, other nodes, a link.
    - `clock`: seconds as `boot_time_s`.

    `changed` is set at the same time, and replaced by a new event.
    """

    def __init__(
        self,
        module: ModuleContext,
        options: NotificationOptions,
        life: Life,
        epoch: StoreEpoch,
        holdings: Holdings,
        on_change: Callable[[], None],
        clock: Callable[[], float] = boot_time_s,
    ) -> None:
        self.core = Ownership(life.name, options.lease_s, [life.former])
        self.changed = asyncio.Event()
        self._module, self._store, self._logger = module, module.store, module.context.log
        self._life, self._epoch, self._holdings, self._on_change, self._clock = life, epoch, holdings, on_change, clock
        self._site, self._lease_s, self._address = options.site, options.lease_s, ""
        # The shards that `holdings` works on. They follow `core.owned`, which changes when the claims are read.
        self._at_work: set[int] = set()
        self._poked, self._moves = asyncio.Event(), asyncio.Event()
        self._beats: asyncio.Task[None] | None = None
        self._mover: asyncio.Task[None] | None = None

    async def open(self, address: str) -> None:
        """Joins as the node at `address`, and owns what is to be ours and has no owner. Raises Unavailable."""
        self._address = address
        await self._round()
        await self._own()

    def start(self) -> None:
        """Keeps the lease until `close`."""
        self._holdings.start()
        self._mover = self._keep_moving()
        self._beats = self._module.loops.every(self._lease_s / BEATS, self._round, "beats of the lease", wake=self._poked)

    async def close(self) -> None:
        """Stops, and lets others own the shards at once; what works on them has stopped before. May be called twice."""
        beats, self._beats, mover, self._mover = self._beats, None, self._mover, None
        await end_tasks(beats, mover)
        if beats is not None:
            with suppress(Unavailable):
                await self._resign()

    def fence(self) -> FencingToken:
        """Returns what writes bear now. Raises Unavailable while nothing may be written, decided or told."""
        return self.core.fence(self._clock())

    def poke(self) -> None:
        """Looks at the store now: something there may have changed."""
        self._poked.set()

    def tell(self) -> None:
        """Wakes whoever waits for a change."""
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()
        self._on_change()

    def missing(self) -> str | None:
        """Returns why not everybody can be served now; None when all can."""
        if not self.core.is_valid(self._clock()):
            return "the store was not reached lately"
        if orphans := sum(self.core.owner_of(shard) is None for shard in range(len(self.core.claims.owners))):
            return f"{orphans} shards of followers have no owner yet"
        moving = len(self.core.owned ^ self._at_work) + len(self.core.handing_over)
        return f"{moving} shards of followers are on the move" if moving else None

    # Beats.

    async def _round(self) -> None:
        """Beats, reads, and does what follows until nothing does. Raises Unavailable."""
        is_beaten = await self._beat()
        for _ in range(ROUNDS):
            steps = await self._read()
            if self.core.is_buried:
                await self._start_over()
                is_beaten = False
            if not is_beaten:
                is_beaten = await self._beat()
            elif steps.claims is None and not steps.bury:
                return
            else:
                await self._do(steps)

    async def _beat(self) -> bool:
        started_s, counter = self._clock(), self.core.next_counter(self._wall_us())
        is_beaten = await self._ask(self._store.beat(NodeRecord(self.core.node, self._site, self._address, counter), self.core.counter))
        if is_beaten:
            self.core.beaten(counter, started_s)
            self._epoch.reached(counter)
        return is_beaten

    async def _read(self) -> Steps:
        """Reads claims, nodes and epoch, in this order: a node is known before it claims anything."""
        claims = await self._ask(self._store.claims())
        members = await self._ask(self._store.members())
        await self._ask(self._epoch.read())
        before = self.core.claims, self.core.members.keys()
        steps = self.core.read(claims, members, self._clock(), self._wall_us())
        if before != (self.core.claims, self.core.members.keys()):
            self.tell()
        if self.core.handing_over or self.core.owned != self._at_work:
            self._moves.set()
        return steps

    async def _do(self, steps: Steps) -> None:
        for member in steps.bury:
            if await self._ask(self._store.bury(member.node, member.counter)):
                self._logger.info("a node is dead; others own its followers", dead=member.node)
        if steps.claims is not None:
            await self._ask(self._store.claim(steps.claims, self.core.claims.version))

    async def _start_over(self) -> None:
        """Begins anew under another name: others took us for dead, and own our shards."""
        self._logger.warning("this node was taken for dead: it begins anew", node=self.core.node)
        was_moving, self._mover = self._mover, None
        await end_tasks(was_moving)  # first: a move that is under way would own shards that are lost
        self._at_work.clear()
        self._life.renew()
        self.core = Ownership(self._life.name, self._lease_s, [self._life.former])
        await self._holdings.lose()
        if was_moving is not None:
            self._holdings.start()
            self._mover = self._keep_moving()

    # Shards.

    def _keep_moving(self) -> "asyncio.Task[None]":
        """Begins to move shards. Moves that fail are called for again by the next beat, which sees that they are still to be done."""
        return self._module.loops.every(None, self._move, "moves of shards", wake=self._moves)

    async def _move(self) -> None:
        await self._hand_over()  # first: others wait for it
        await self._own()

    async def _own(self) -> None:
        if shards := self.core.owned - self.core.handing_over - self._at_work:
            await self._holdings.own(shards)
            self._at_work |= shards
            self.tell()

    async def _hand_over(self) -> None:
        if shards := set(self.core.handing_over):
            await self._holdings.hand_over(shards & self._at_work)
            self._at_work -= shards
            self.core.handed_over(shards)
            self.poke()

    async def _resign(self) -> None:
        for _ in range(ROUNDS):
            await self._read()
            if self.core.is_buried:
                return
            claims = self.core.resigned(self._wall_us())
            if await self._ask(self._store.claim(claims, self.core.claims.version)):
                self._epoch.reached(claims.version)
                break
        else:
            return  # the claims must have a version above the counter of whoever is taken away
        await self._ask(self._store.bury(self.core.node, self.core.counter))

    async def _ask(self, question: Awaitable[T]) -> T:
        """Returns the answer to `question`. Raises Unavailable where it takes so long that the lease would suffer."""
        try:
            async with asyncio.timeout(self._lease_s / 2):
                return await question
        except TimeoutError:
            raise Unavailable("the store is slow to answer") from None

    def _wall_us(self) -> int:
        return int(self._module.context.wall() * 1_000_000)
