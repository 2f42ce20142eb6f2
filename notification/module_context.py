"""The context of the notification module while its store is open: what its parts have in common."""

from dataclasses import dataclass

from infra.runtime.context import Context
from infra.runtime.loops import Loops

from .store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleContext:
    """The things that most parts of the module need.

    - `store`: where everything is kept.
    - `context`: the clock, the randomness and the log of the role.
    - `loops`: its supervised loops.
    """

    store: Store
    context: Context
    loops: Loops

    def now_ms(self) -> int:
        """Returns Unix time in milliseconds."""
        return int(self.context.wall() * 1000)
