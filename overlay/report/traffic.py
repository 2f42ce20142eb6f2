"""What nodes receive while nothing changes: control messages, and messages that they do not want."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..simulator.counters import CONTROL, KINDS, UNWANTED
from ..simulator.poldercast.overlay import PolderCastOverlay
from ..simulator.scribe.overlay import ScribeOverlay

Floats = NDArray[np.float64]
# While so many cycles pass, each with an event on each topic, messages are counted.
_CYCLES: Final = 10


class NodeTraffic(NamedTuple):
    """The messages that nodes received, in the mean of a cycle.

    - `control`: messages that are no events.
    - `unwanted`: the share of each node's messages that are about topics to which it does not subscribe. `with_pastry`: with Pastry's own
      messages counted as such, too.
    """

    control: Floats
    unwanted: Floats
    with_pastry: Floats


def counted(system: ScribeOverlay | PolderCastOverlay) -> NodeTraffic:
    """Returns what nodes receive in some cycles, with an event on each topic after each."""
    before = _received(system)
    for _ in range(_CYCLES):
        system.cycle()
        system.publish_each()
    control, every, unwanted, pastry = (now - then for now, then in zip(_received(system), before, strict=True))
    own = np.maximum(1, every - pastry)
    return NodeTraffic(control / _CYCLES, unwanted / own, (unwanted + pastry) / np.maximum(1, every))


def _received(system: ScribeOverlay | PolderCastOverlay) -> tuple[Floats, Floats, Floats, Floats]:
    """Returns by node: control messages, all messages, those about topics that it does not want, and Pastry's own."""
    messages = np.array(system.messages, np.float64).reshape(-1, KINDS)
    unwanted, pastry = messages[:, UNWANTED].copy(), np.zeros(len(messages))
    if isinstance(system, ScribeOverlay):
        unwanted += np.asarray(system.state.relayed)
        pastry += np.asarray(system.state.pastry)
    return messages[:, CONTROL].copy(), messages.sum(1), unwanted, pastry
