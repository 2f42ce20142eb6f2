"""Work that ends as none should. It is here because other processes must be able to import it."""

import os


def killed() -> int:
    """Ends its process as if the system had killed it."""
    os._exit(9)


def full() -> int:
    """Finds no room on the disk."""
    raise OSError(28, "No space left on device")
