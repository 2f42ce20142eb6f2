"""`python -m bench.micro.overlay_events PLAN` times the driver by events in a process of its own, with GossipSub."""

import sys
import time
from typing import Final

import msgspec
import numpy as np

from overlay.simulator.compiled import COMPILED, INTERPRETED, Execution
from overlay.simulator.gossipsub.designer import V1_0, V1_1, designer_run
from overlay.simulator.gossipsub.options import GossipSubOptions
from overlay.simulator.gossipsub.overlay import GossipPublication, GossipSubOverlay
from overlay.simulator.gossipsub.state import COPY
from overlay.simulator.latency.latency import by_link
from overlay.simulator.workload import workload

_EVERY_S: Final = 0.004


class EventsPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan: `events` among 1,000 nodes, one each 4 ms; and `small` of them among `small_nodes` for compiled against interpreted."""

    events: int
    small: int = 10
    small_nodes: int = 100


class EventsFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome, in seconds of processor time.

    - `copies`: of events, sent in `copies_s`, all `messages` together with gossip; `delivered`: the share of deliveries that were made.
    - `old_s`, `new_s`: OV-3's runs of v1.0 and v1.1. `old_deliveries`, `new_deliveries`: of these.
    - `times_faster`: compiled against interpreted.
    """

    copies: int
    messages: int
    copies_s: float
    delivered: float
    old_s: float
    new_s: float
    old_deliveries: int
    new_deliveries: int
    times_faster: float


def measure(plan: EventsPlan) -> EventsFigures:
    """Measures a burst of events, and the runs of OV-3. Kernels are loaded before."""
    for options in (V1_0, V1_1):
        designer_run(options, 1, nodes=50, messages=2)
    times_faster = _burst(plan.small_nodes, plan.small, INTERPRETED)[0] / _burst(plan.small_nodes, plan.small, COMPILED)[0]
    seconds, sent, delivered = _burst(1000, plan.events, COMPILED)
    old_s, old = _designers(V1_0)
    new_s, new = _designers(V1_1)
    return EventsFigures(
        copies=sent[COPY],
        messages=sum(sent),
        copies_s=seconds,
        delivered=delivered,
        old_s=old_s,
        new_s=new_s,
        old_deliveries=old,
        new_deliveries=new,
        times_faster=times_faster,
    )


def _burst(nodes: int, events: int, execution: Execution) -> tuple[float, list[int], float]:
    """Returns the seconds of a burst of events over meshes that stand, what was sent, and the share of deliveries that were made."""
    system = GossipSubOverlay(workload(np.arange(nodes), np.zeros(nodes, np.int64)), 1, V1_0, execution=execution)
    system.run(5)
    before = system.sent
    publications = [GossipPublication(number * _EVERY_S, 0, number % nodes) for number in range(events)]
    began = time.process_time()
    came = system.play(publications, events * _EVERY_S + 1.0, by_link(10, 150, jitter=0.1, seed=5))
    seconds = time.process_time() - began
    return seconds, [after - each for after, each in zip(system.sent, before, strict=True)], float((came >= 0).mean())


def _designers(options: GossipSubOptions) -> tuple[float, int]:
    began = time.process_time()
    run = designer_run(options, 1)
    return time.process_time() - began, run.deliveries


if __name__ == "__main__":
    print(msgspec.json.encode(measure(msgspec.json.decode(sys.argv[1], type=EventsPlan))).decode())
