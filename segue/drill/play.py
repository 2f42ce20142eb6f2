"""How a row is played: its cluster is started, loaded, broken as the row says, and measured."""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import combinations
from typing import Any, Final, NamedTuple, cast

from segue.cluster.shape import Shape

from .ledger import DrillMeasured
from .load import DrillLoad
from .memory import fullest
from .nodes import DrillNodes, DrillWindows
from .ring import ring_of, settle
from .rows import DrillRow, DrillStep

MakeNodes = Callable[[random.Random, Shape, DrillWindows], AbstractAsyncContextManager[DrillNodes]]
# Before anything goes wrong, and after.
CALM_S: Final = 1.5
QUIET_S: Final = 3.0
# What a row may take beside its own waiting.
BESIDE_S: Final = 180.0
# What must be there, so that a promise means something.
PROVED_BY: Final = {"untold": "due", "uncounted": "missing"}
# A random row: how long something is wrong, and how long all is well before the next one.
AWAY_S: Final = (0.5, 4.0)
WELL_S: Final = 3.0


class DrillOutcome(NamedTuple):
    """A row that was played: what was `measured` of each kind of topics, and in how many seconds."""

    row: DrillRow
    measured: dict[str, DrillMeasured]
    seconds: float

    def broken(self, kind: str) -> list[str]:
        """Returns the measures that are larger than what is promised, and those without which nothing is proved: `delivered`, ..."""
        promised, measured = self.row.promised(kind)._asdict(), self.measured[kind]
        made = {name: most for name, most in promised.items() if most is not None}
        proofs = {"delivered", *(PROVED_BY[name] for name in made if name in PROVED_BY)}
        found = [name for name, most in made.items() if getattr(measured, name) > most]
        return found + sorted(name for name in proofs if not getattr(measured, name))

    @property
    def is_good(self) -> bool:
        """Whether all that was promised was kept."""
        return not any(map(self.broken, self.measured))


async def play(row: DrillRow, make_nodes: MakeNodes, seed: int) -> DrillOutcome:
    """Returns what comes of a row on a cluster of its own. Raises TimeoutError where that takes far too long."""
    began_s, rng = time.monotonic(), random.Random(f"{seed} {row.name}")
    async with asyncio.timeout(row.seconds + BESIDE_S), make_nodes(rng, row.shape, row.windows) as nodes:
        await nodes.ready()
        for name in row.later:
            await nodes.stop(name)
        async with DrillLoad(nodes, row.shape.sites, rng, travels=row.travels) as load:
            if row.tells is not None:
                load.expect(row.tells, await ring_of(nodes, row.tells.site) if row.tells.slots else None)
            await load.calm(CALM_S)
            load.mark()
            for step in row.steps:
                await _do(step, nodes, load, rng)
            await load.quiet(QUIET_S)
            measured = {kind: ledger.measured() for kind, ledger in load.ledgers.items()}
    return DrillOutcome(row, measured, round(time.monotonic() - began_s, 1))


async def _do(step: DrillStep, nodes: DrillNodes, load: DrillLoad, rng: random.Random) -> None:
    match step.act:
        case "mark":
            load.mark()
        case "wait":
            await asyncio.sleep(step.seconds)
        case "weigh":
            load.weigh(await fullest(nodes))
        case "repeat":
            await load.repeat()
        case "away":
            await load.travellers.go()
        case "back":
            await load.travellers.come()
        case "random":
            await at_random(nodes, rng, step.seconds)
        case "cut":
            nodes.cut(step.node, step.other)
        case "heal":
            nodes.heal()
        case "settle":
            await settle(nodes, step.node)
        case "start":
            await nodes.start(step.node)
            await nodes.ready()
        case "stop":
            await nodes.stop(step.node)
        case "kill":
            await nodes.kill(step.node)
        case "hang" | "go_on" as act:
            getattr(nodes, act)(step.node)
        case "clock":
            cast(Any, nodes).clock(step.node, step.seconds)


async def at_random(nodes: DrillNodes, rng: random.Random, seconds: float) -> None:
    """Has one thing after the other go wrong for so long. All is well again, and all are ready, before the next one."""
    until_s = time.monotonic() + seconds
    mishaps = (_gone, _gone, _cut_off, _hung) if hasattr(nodes, "hang") else (_gone, _gone, _cut_off)
    while time.monotonic() < until_s:
        await rng.choice(mishaps)(nodes, rng)
        await nodes.ready()
        await asyncio.sleep(WELL_S)


async def _gone(nodes: DrillNodes, rng: random.Random) -> None:
    name = rng.choice(nodes.names())
    await (nodes.kill if rng.random() < 0.5 else nodes.stop)(name)
    await asyncio.sleep(rng.uniform(*AWAY_S))
    await nodes.start(name)


async def _hung(nodes: DrillNodes, rng: random.Random) -> None:
    name = rng.choice(nodes.names())
    cast(Any, nodes).hang(name)
    await asyncio.sleep(rng.uniform(*AWAY_S))
    cast(Any, nodes).go_on(name)


async def _cut_off(nodes: DrillNodes, rng: random.Random) -> None:
    nodes.cut(*rng.choice(cuttable(nodes.names())))
    await asyncio.sleep(rng.uniform(*AWAY_S))
    nodes.heal()


def cuttable(names: list[str]) -> list[tuple[str, str]]:
    """Returns the pairs of sites, and of nodes of one site, that may be cut from each other.

    Two brokers of one site may not: a site that falls in parts is a row of its own, with other promises.
    """
    sites = sorted({name.partition("/")[0] for name in names})
    near = [pair for pair in combinations(sorted(names), 2) if len({name.partition("/")[0] for name in pair}) == 1]
    return [*combinations(sites, 2), *(pair for pair in near if not all("/b" in name for name in pair))]
