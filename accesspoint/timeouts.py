"""What connections must do in time: say hello, read on, read a goodbye. Pure; `silence` has those that say nothing."""

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, Generic, Protocol, TypeVar

from infra.kernel.errors import Refused

from .session import SessionState

# How long a client that is sent away has to read why.
GOODBYE_S: Final = 5.0


class Timed(Protocol):
    """A connection, as far as timeouts go."""

    @property
    def state(self) -> SessionState:
        """How far it is."""

    def end(self, refused: Refused) -> None:
        """Tells the client why, and closes."""

    def abort(self) -> None:
        """Closes at once."""

    def rested(self) -> None:
        """Reads on, after a rest."""


T = TypeVar("T", bound=Timed)


class Timeouts(Generic[T]):
    """The connections that something is expected of. Time is the access point's, in seconds.

    - `hello_s`: how long a client has to say hello.
    - `check_slow(connection, now_s)`: ends a slow connection whose time is over.
    - `slow`: those that do not read, the longest first.
    """

    def __init__(self, hello_s: float, check_slow: Callable[[T, float], None]) -> None:
        self.slow: dict[T, None] = {}
        self._hello_s, self._check_slow = hello_s, check_slow
        self._young: deque[tuple[float, T]] = deque()
        self._leaving: dict[T, float] = {}
        self._resting: dict[T, float] = {}

    @property
    def leaving(self) -> list[T]:
        """Those to which a goodbye was said, and which have not gone yet."""
        return list(self._leaving)

    def joined(self, connection: T, now_s: float) -> None:
        """Expects a hello of `connection`."""
        self._young.append((now_s + self._hello_s, connection))

    def stopped(self, connection: T) -> None:
        """Expects `connection`, whose client has stopped reading, to read on."""
        self.slow[connection] = None

    def resumed(self, connection: T) -> None:
        """Expects nothing more of `connection`, whose client reads again."""
        self.slow.pop(connection, None)

    def rests(self, connection: T, until_s: float) -> None:
        """Has `connection`, whose client is too fast, not be read until `until_s`."""
        self._resting[connection] = until_s

    def left(self, connection: T, now_s: float) -> None:
        """Expects `connection`, to which a goodbye was said, to go."""
        self.slow.pop(connection, None)
        self._resting.pop(connection, None)
        self._leaving[connection] = now_s + GOODBYE_S

    def lost(self, connection: T) -> None:
        """Expects nothing more of `connection`, which is gone."""
        self.slow.pop(connection, None)
        self._resting.pop(connection, None)
        self._leaving.pop(connection, None)

    def due(self, now_s: float) -> Iterator[Callable[[], None]]:
        """Returns the steps that end what is due at `now_s`: late hellos, goodbyes that nobody read, slow clients, rests of fast ones."""
        late = Refused("hello-timeout", f"no hello within {self._hello_s:g} s")
        # All have the same time for their hello, so who joined first is due first.
        while self._young and self._young[0][0] <= now_s:
            _, connection = self._young.popleft()
            if connection.state is SessionState.NEW:
                yield partial(connection.end, late)
            elif connection.state is SessionState.ASKING:
                yield partial(connection.end, Refused("unavailable", "nobody has said in time whether you may come in; try again"))
        for connection in [each for each, due_s in self._leaving.items() if due_s <= now_s]:
            yield connection.abort
        for connection in [each for each, due_s in self._resting.items() if due_s <= now_s]:
            del self._resting[connection]
            yield connection.rested
        for connection in list(self.slow):
            yield partial(self._check_slow, connection, now_s)
