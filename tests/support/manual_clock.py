"""A wall clock that a test moves."""

import time


class ManualClock:
    """Unix time in seconds, `ahead_s` before the machine's. It goes on until `stop`."""

    def __init__(self) -> None:
        self.ahead_s = 0.0
        self._stands_at_s: float | None = None

    def __call__(self) -> float:
        return (time.time() if self._stands_at_s is None else self._stands_at_s) + self.ahead_s

    def stop(self) -> None:
        """Stands still from now on."""
        self._stands_at_s = time.time()
