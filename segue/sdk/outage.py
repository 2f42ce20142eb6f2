"""Outages as they are told: one line when a time without a connection begins, and no more."""

from collections.abc import Callable

from segue.sdk.client_state import Phase, State


class Outage:
    """An observer of a client's states. It tells of each outage once: what happened, and where the client tries again."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._is_told = False

    def __call__(self, state: State) -> None:
        if state.phase is Phase.CONNECTED:
            self._is_told = False
        elif state.phase is Phase.WAITING and not self._is_told:
            self._is_told = True
            self._tell(f"{state.reason}; trying again and again, next at {state.url}")
