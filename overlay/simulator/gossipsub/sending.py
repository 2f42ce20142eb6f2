"""How the messages of a simulated GossipSub are sent and counted. What comes of them is in `receiving.py`."""

from typing import Final

from .. import sizes
from ..agenda import add
from ..latency.latency import takes_us
from .options import HEARTBEAT_US, GossipSubRules
from .seats import peer_of
from .state import COPY, IHAVE, IWANT, LOGGED, NOW, PRUNE, GossipSubState

# In the detail of an IHAVE or IWANT: positions in the sender's cache, from a first one on, as bits.
MASK_BITS: Final = 31
MASK: Final = (1 << MASK_BITS) - 1
# The first position of an IHAVE that tells of an event that does not exist.
BOGUS: Final = MASK
# In the detail of a copy: the bond, and below it the hops.
HOP_BITS: Final = 20
HOP_MASK: Final = (1 << HOP_BITS) - 1
# A logged message has so many numbers: when, kind, sender, receiver, item, detail.
LOGGED_PARTS: Final = 6
_SECONDS: Final = 2


def send(state: GossipSubState, kind: int, sender: int, receiver: int, item: int, detail: int) -> None:
    """Sends a message. `item` and `detail` are what its kind makes of them."""
    state.tallies[kind] += 1
    _note(state, kind, sender, receiver, item, detail)
    add(state.agenda, state.clock[NOW] + takes_us(state.times, sender, receiver), kind, receiver, sender, item, detail)


def send_over(state: GossipSubState, kind: int, bond: int, detail: int) -> None:
    """Sends a control message to the other end of a bond. Its item is the bond as the other end knows it."""
    send(state, kind, state.seats.node[state.bonds.seat[bond]], peer_of(state, bond), state.bonds.twin[bond], detail)


def send_copy(state: GossipSubState, bond: int, event: int) -> None:
    """Sends an event to the other end of a bond."""
    sender = state.seats.node[state.bonds.seat[bond]]
    hops = state.events.hops[event * len(state.nodes.alive) + sender] + 1
    send(state, COPY, sender, peer_of(state, bond), event, (state.bonds.twin[bond] << HOP_BITS) | hops)


def control_bytes(rules: GossipSubRules, kind: int, detail: int) -> int:
    """Returns the bytes of a control message."""
    if kind == PRUNE:
        peers = rules.exchanged if detail >> 1 > 0 else 0
        return sizes.HEADER + sizes.TOPIC + _SECONDS + peers * (sizes.ID + sizes.ADDRESS)
    if kind == IHAVE:
        return sizes.HEADER + sizes.TOPIC + bits(detail & MASK) * sizes.EVENT_ID
    if kind == IWANT:
        return sizes.HEADER + bits(detail & MASK) * sizes.EVENT_ID
    return sizes.HEADER + sizes.TOPIC


def bits(mask: int) -> int:
    """Returns how many bits are set."""
    found = 0
    while mask > 0:
        mask &= mask - 1
        found += 1
    return found


def next_beat_us(state: GossipSubState, node: int) -> int:
    """Returns when the node has its next heartbeat."""
    now = state.clock[NOW]
    beat = now - now % HEARTBEAT_US + state.nodes.phase_us[node]
    return beat if beat > now else beat + HEARTBEAT_US


def _note(state: GossipSubState, kind: int, sender: int, receiver: int, item: int, detail: int) -> None:
    """Logs a message, where there is room."""
    at = state.tallies[LOGGED]
    if at + LOGGED_PARTS <= len(state.log):
        state.tallies[LOGGED] += LOGGED_PARTS
        state.log[at] = state.clock[NOW]
        state.log[at + 1] = kind
        state.log[at + 2] = sender
        state.log[at + 3] = receiver
        state.log[at + 4] = item
        state.log[at + 5] = detail
