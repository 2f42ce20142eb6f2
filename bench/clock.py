"""The clock of all generators: monotonic, shared by the processes of one machine."""

import time


def now_us() -> int:
    """Returns the time in microseconds."""
    return time.monotonic_ns() // 1000
