"""Events that take time in the simulator: messages a second, the runs of OV-3, and compiled against interpreted, on one core."""

from typing import Final

import msgspec

from ..micro.overlay_events import EventsFigures, EventsPlan
from ..process import ROOT, BenchError, spawned
from ..runner import Record, Runner
from ..servers.peers import python_with
from ..setting import BenchSetting
from ..table import MarkdownTable, verdict
from .stored import program

_COPIES_A_SECOND: Final = 500_000
_RUN_S: Final = 5.0
_TIMES: Final = 50
_EVENTS: Final = 300
_SHORT: Final = 50
# So many nodes of py-libp2p, of which each dials so many, and so many events. 60 nodes in one process time out before they are connected.
_NODES, _DIALS, _PEER_EVENTS = 30, 6, 20


class LibP2pFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of py-libp2p: `deliveries` of those `wanted`, in `seconds` of processor time. If there is none, `missing` says why."""

    deliveries: int = 0
    wanted: int = 0
    seconds: float = 0.0
    missing: str = ""


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures once. `--seconds` under 5 publishes fewer events."""
    runner.tell("overlay_events: GossipSub, 1,000 nodes")
    plan = EventsPlan(events=_EVENTS if runner.seconds(5) >= 5 else _SHORT)
    found = program("overlay_events", plan, runner.setting.server_core, EventsFigures)
    runner.keep(Record(benchmark="overlay_events", who="GossipSub", run=0, figures=_numbers(found)))
    peer = LibP2pFigures(missing="not asked for")
    if runner.peers:
        runner.tell("overlay_events: py-libp2p")
        peer = beside(runner.setting)
        runner.keep(Record(benchmark="overlay_events", who="py-libp2p", run=0, figures=_peer_numbers(peer)))
    return [table(found, peer)]


def beside(setting: BenchSetting, nodes: int = _NODES) -> LibP2pFigures:
    """Returns what py-libp2p's GossipSub costs, with all its nodes in one process."""
    if (python := python_with(setting, "libp2p, trio")) is None:
        return LibP2pFigures(missing="absent: the Python package libp2p is not installed here or in a venv in --peers-dir")
    command = [python, str(ROOT / "bench" / "libp2p_nodes.py"), *map(str, (nodes, _DIALS, _PEER_EVENTS))]
    try:
        with spawned(command, setting.server_core) as process:
            return msgspec.json.decode(process.line(), type=LibP2pFigures)
    except BenchError as trouble:
        return LibP2pFigures(missing=f"nothing came: {str(trouble).strip().splitlines()[-1]}")


def table(found: EventsFigures, peer: LibP2pFigures) -> MarkdownTable:
    """Returns the figures beside their targets, and beside those of py-libp2p."""
    rate = found.copies / found.copies_s
    rows = [
        ["copies of events a second", f"{rate:,.0f}", verdict(rate, _COPIES_A_SECOND, most=False)],
        ["messages a second, gossip included", f"{found.messages / found.copies_s:,.0f}", ""],
        ["OV-3, v1.0, s", f"{found.old_s:.2f}", verdict(found.old_s, _RUN_S)],
        ["OV-3, v1.1, s", f"{found.new_s:.2f}", verdict(found.new_s, _RUN_S)],
        ["CPU for a delivery in OV-3, v1.1, µs", f"{1e6 * found.new_s / found.new_deliveries:.1f}", ""],
        ["the same in py-libp2p's GossipSub, µs", _cost(peer), ""],
        ["compiled against interpreted, times", f"{found.times_faster:.0f}", verdict(found.times_faster, _TIMES, most=False)],
    ]
    notes = [
        f"Processor time of one core; kernels are compiled before. {found.delivered:.2%} of the deliveries were made.",
        "A run of OV-3 is 1,000 nodes, 60 events, 75 heartbeats of each node: heartbeats, scores and gossip are most of its time.",
        f"py-libp2p: {_NODES} nodes in one process, which dial {_DIALS} each; {_PEER_EVENTS} events of 200 bytes. A node signs and checks"
        " each event, and encrypts, frames and sends it over TCP on loopback; the simulator does none of that. Both keep meshes by"
        " heartbeats, gossip and scores.",
    ]
    return MarkdownTable("Events that take time, in the simulator", ["what", "measured", "target"], rows, notes)


def _cost(peer: LibP2pFigures) -> str:
    if peer.missing or not peer.deliveries:
        return peer.missing or "nothing was delivered"
    lost = "" if peer.deliveries == peer.wanted else f", {1 - peer.deliveries / peer.wanted:.1%} lost"
    return f"{1e6 * peer.seconds / peer.deliveries:,.0f}{lost}"


def _peer_numbers(peer: LibP2pFigures) -> dict[str, float]:
    return {"deliveries": peer.deliveries, "wanted": peer.wanted, "seconds": peer.seconds}


def _numbers(found: EventsFigures) -> dict[str, float]:
    return {
        "copies_per_s": found.copies / found.copies_s,
        "old_s": found.old_s,
        "new_s": found.new_s,
        "times_faster": found.times_faster,
        "delivered": found.delivered,
    }
