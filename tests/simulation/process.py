"""A simulated process: what is its turn to run, its clocks, and whether it lives."""

from collections import deque
from contextvars import Context, ContextVar, copy_context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .loop import SimulatedHandle
    from .transport import SimulatedTransport


class SimulatedProcess:
    """A process of the simulated world. What is called in its `context` belongs to it, and so does all that follows from that.

    - `ready`: what it has to do in its next turn, in order. `is_due`: whether the loop has it on its list for that.
    - `stalled_until_s`: it gets no turn before; its clocks go on meanwhile.
    - `offset_s`, `rate`: its clocks show the world's time times `rate`, plus `offset_s`. Only the Unix time has the offset.
    - `transports`: its ends of connections, in the order in which they were made.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_alive = True
        self.is_due = False
        self.ready: deque[SimulatedHandle] = deque()
        self.stalled_until_s = 0.0
        self.offset_s, self.rate = 0.0, 1.0
        self.transports: dict[SimulatedTransport, None] = {}
        self.context = copy_context()
        self.context.run(_PROCESS.set, self)

    def __repr__(self) -> str:
        return f"<{self.name}>"


_PROCESS: ContextVar[SimulatedProcess] = ContextVar("process")


def running(otherwise: SimulatedProcess) -> SimulatedProcess:
    """Returns the process whose turn it is; `otherwise` outside of all."""
    return _PROCESS.get(otherwise)


def process_of(context: Context) -> SimulatedProcess | None:
    """Returns the process to which what runs in `context` belongs; None outside of all."""
    return context.get(_PROCESS)
