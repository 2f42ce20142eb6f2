"""The clock of all generators: monotonic, shared by the processes of one machine."""

import time


def now_us() -> int:
    """Microseconds."""
    return time.monotonic_ns() // 1000
