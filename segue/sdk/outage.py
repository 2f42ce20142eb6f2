"""What is said of a time without a connection: one line when it begins, and no more."""

from collections.abc import Callable

from segue.sdk.client_state import Phase, State


class Outage:
    """Hears the states of a client, and tells once of each outage what happened, and that and where it is tried again."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._is_told = False

    def __call__(self, state: State) -> None:
        if state.phase is Phase.CONNECTED:
            self._is_told = False
        elif state.phase is Phase.WAITING and not self._is_told:
            self._is_told = True
            self._tell(f"{state.reason}; trying again and again, next at {state.url}")
