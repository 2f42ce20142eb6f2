"""All nodes of a simulated GossipSub, as flat buffers.

A *seat* is a node's subscription to a topic. A *link* is a connection as one of its two ends sees it; the other end's is its twin. A *bond*
is a link for one topic to which both ends subscribe, as one end sees it; it has a twin, too. Records are never freed: who comes back finds
what was known of it. Pools that are full grow between kernels (`growth.py`).
"""

from typing import Final, NamedTuple

import numpy as np

from ...protocol.buffer import Buffer
from ...protocol.chance import begin, below
from ...protocol.gossip_scores import COUNTERS
from ..agenda import EventAgenda, new_agenda
from ..compiled import Execution
from ..counters import KINDS
from ..event_counts import TopicMembers
from ..latency.latency import LatencyTimes, constant
from ..pair_table import PairTable, new_pair_table
from ..workload import OverlayWorkload
from .options import HEARTBEAT_US, MESH_ROOM, GossipSubRules

NOBODY: Final = -1
# Kinds of entries in the agenda. Those below SORTS are messages, which `tallies` counts as they are sent.
COPY: Final = 0
GRAFT: Final = 1
PRUNE: Final = 2
IHAVE: Final = 3
IWANT: Final = 4
HELLO: Final = 5
TOPICS: Final = 6
SORTS: Final = 7
HEARTBEAT: Final = 7
GOSSIP: Final = 8
PUBLISH: Final = 9
PROMISE: Final = 10
# More places of `tallies`: messages that nobody got, records in use, the end of the log, and connections that found no room.
LOST: Final = SORTS
SEATS: Final = SORTS + 1
LINKS: Final = SORTS + 2
BONDS: Final = SORTS + 3
LOGGED: Final = SORTS + 4
NO_ROOM: Final = SORTS + 5
TALLIES: Final = SORTS + 6
# The place of the time in `clock`, in microseconds.
NOW: Final = 0
# The most entries of an agenda.
MOST_ROOM: Final = 1 << 22
# Streams of the world have numbers above those of nodes.
WORLD: Final = 0
EXCHANGE: Final = 1
WORLD_STREAMS: Final = 2


class GossipNodes(NamedTuple):
    """By node: whether it is there, its side of the network, its misdeeds, its host, what the application thinks of it (P5, thousandths),
    heartbeats done, their phase, and its first seat and link. `streams`: by node, then the world's. `log`, `marks`: its message cache.
    """

    alive: Buffer
    side: Buffer
    flags: Buffer
    host: Buffer
    opinion: Buffer
    beats: Buffer
    phase_us: Buffer
    first_seat: Buffer
    first_link: Buffer
    streams: Buffer
    log: Buffer
    marks: Buffer
    order: Buffer


class GossipSeats(NamedTuple):
    """By seat. `is_on`: 1 while the node subscribes. `following`: the node's next seat. `mesh`: MESH_ROOM bonds each, of which `size`."""

    table: PairTable
    node: Buffer
    topic: Buffer
    is_on: Buffer
    following: Buffer
    first_bond: Buffer
    mesh: Buffer
    size: Buffer


class GossipLinks(NamedTuple):
    """By link.

    - `owner`, `peer`, `twin`, `following` (the owner's next link), `dialled` (1 if the owner dialled).
    - `is_up`, `silent` (heartbeats without a sign of life), `lost_us` (when it was lost), `score`, `misbehaved` (P7), `topics_score`.
    - `promised`: an event that the peer is to bring. `asked`, `served`: events in this heartbeat.
    """

    table: PairTable
    owner: Buffer
    peer: Buffer
    twin: Buffer
    following: Buffer
    dialled: Buffer
    is_up: Buffer
    silent: Buffer
    lost_us: Buffer
    score: Buffer
    misbehaved: Buffer
    topics_score: Buffer
    promised: Buffer
    asked: Buffer
    served: Buffer


class GossipBonds(NamedTuple):
    """By bond: its seat, link, twin, the seat's next bond, whether it is in the mesh and since when, until when it backs off, IHAVEs of
    this heartbeat, and COUNTERS counters."""

    seat: Buffer
    link: Buffer
    twin: Buffer
    following: Buffer
    in_mesh: Buffer
    since_us: Buffer
    backoff_us: Buffer
    ihaves: Buffer
    counters: Buffer


class GossipEvents(NamedTuple):
    """By event: topic, publisher, when it was published, and whether it is valid. By event and node: arrival, hops, and copies received."""

    topic: Buffer
    publisher: Buffer
    published_us: Buffer
    is_valid: Buffer
    arrival_us: Buffer
    hops: Buffer
    copies: Buffer


class GossipSubState(NamedTuple):
    """The state of all nodes, and of what is under way.

    - `times`: how long messages take. `scores`: the settings of scores. `of`: the subscribers of each topic.
    - `messages`, `sizes`: counters of what is received. `tallies`, `clock`: see above. `log`: each message, where it has room.
    - `picks`, `weights`, `outward`: room for all peers of a node.
    """

    nodes: GossipNodes
    seats: GossipSeats
    links: GossipLinks
    bonds: GossipBonds
    events: GossipEvents
    times: LatencyTimes
    agenda: EventAgenda
    scores: Buffer
    of: TopicMembers
    messages: Buffer
    sizes: Buffer
    tallies: Buffer
    clock: Buffer
    log: Buffer
    picks: Buffer
    weights: Buffer
    outward: Buffer


def new_gossip_state(
    workload: OverlayWorkload, of: TopicMembers, rules: GossipSubRules, scores: Buffer, seed: int, execution: Execution, *, logged: int = 0
) -> GossipSubState:
    """Returns nodes without seats and connections, all alive. `logged`: how many numbers of messages can be logged."""
    nodes, make = workload.nodes, execution
    return GossipSubState(
        nodes=_new_nodes(nodes, rules, seed, execution),
        seats=_new_seats(max(16, workload.pairs), execution),
        links=_new_links(max(16, nodes), execution),
        bonds=_new_bonds(max(16, workload.pairs), execution),
        events=new_events(1, nodes, execution),
        times=constant(0).times,
        agenda=new_agenda(agenda_room(nodes, 0), execution),
        scores=scores,
        of=of,
        messages=make.filled(nodes * KINDS),
        sizes=make.filled(nodes * KINDS),
        tallies=make.filled(TALLIES),
        clock=make.filled(1),
        log=make.filled(logged),
        picks=make.filled(nodes),
        weights=make.filled(nodes),
        outward=make.filled(nodes),
    )


def agenda_room(nodes: int, links: int) -> int:
    """Returns how many entries an agenda needs: what is on its way at once, and a promise for each link, which may be broken later."""
    return min(max(4096, 4 * nodes) + links, MOST_ROOM)


def new_events(events: int, nodes: int, execution: Execution) -> GossipEvents:
    """Returns room for so many events, which nobody has published yet."""
    make = execution
    return GossipEvents(
        topic=make.filled(events),
        publisher=make.filled(events),
        published_us=make.filled(events),
        is_valid=make.filled(events, 1),
        arrival_us=make.filled(events * nodes, NOBODY),
        hops=make.filled(events * nodes, NOBODY, np.int32),
        copies=make.filled(events * nodes, 0, np.int32),
    )


def begin_streams(streams: Buffer, phase_us: Buffer, seed: int) -> None:
    """Begins all streams of a seed, and draws when in a second each node has its heartbeat."""
    for number in range(len(streams)):
        begin(streams, number, seed, number)
    for node in range(len(phase_us)):
        phase_us[node] = below(streams, node, HEARTBEAT_US)


def _new_nodes(nodes: int, rules: GossipSubRules, seed: int, execution: Execution) -> GossipNodes:
    make = execution
    streams = make.filled(nodes + WORLD_STREAMS)
    phase_us = make.filled(nodes)
    make.kernel(begin_streams)(streams, phase_us, seed)
    return GossipNodes(
        alive=make.filled(nodes, 1, np.int8),
        side=make.filled(nodes, 0, np.int8),
        flags=make.filled(nodes),
        host=make.buffer(range(nodes)),
        opinion=make.filled(nodes),
        beats=make.filled(nodes),
        phase_us=phase_us,
        first_seat=make.filled(nodes, NOBODY),
        first_link=make.filled(nodes, NOBODY),
        streams=streams,
        log=make.filled(nodes * rules.log, 0, np.int32),
        marks=make.filled(nodes * (rules.windows + 1)),
        order=make.buffer(range(nodes)),
    )


def _new_seats(room: int, make: Execution) -> GossipSeats:
    return GossipSeats(
        table=new_pair_table(room, make),
        node=make.filled(room, 0, np.int32),
        topic=make.filled(room, 0, np.int32),
        is_on=make.filled(room, 0, np.int8),
        following=make.filled(room, NOBODY, np.int32),
        first_bond=make.filled(room, NOBODY, np.int32),
        mesh=make.filled(room * MESH_ROOM, 0, np.int32),
        size=make.filled(room, 0, np.int32),
    )


def _new_links(room: int, make: Execution) -> GossipLinks:
    return GossipLinks(
        table=new_pair_table(room, make),
        owner=make.filled(room, 0, np.int32),
        peer=make.filled(room, 0, np.int32),
        twin=make.filled(room, 0, np.int32),
        following=make.filled(room, 0, np.int32),
        dialled=make.filled(room, 0, np.int8),
        is_up=make.filled(room, 0, np.int8),
        silent=make.filled(room, 0, np.int32),
        lost_us=make.filled(room),
        score=make.filled(room),
        misbehaved=make.filled(room, 0, np.int32),
        topics_score=make.filled(room),
        promised=make.filled(room, NOBODY, np.int32),
        asked=make.filled(room, 0, np.int32),
        served=make.filled(room, 0, np.int32),
    )


def _new_bonds(room: int, make: Execution) -> GossipBonds:
    return GossipBonds(
        seat=make.filled(room, 0, np.int32),
        link=make.filled(room, 0, np.int32),
        twin=make.filled(room, 0, np.int32),
        following=make.filled(room, 0, np.int32),
        in_mesh=make.filled(room, 0, np.int8),
        since_us=make.filled(room),
        backoff_us=make.filled(room),
        ihaves=make.filled(room, 0, np.int32),
        counters=make.filled(room * COUNTERS, 0, np.int32),
    )
