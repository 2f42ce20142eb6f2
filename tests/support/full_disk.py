"""A disk that has room for a few bytes more, as a limit on the size of files of this process."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def room_until(size_bytes: int) -> Iterator[None]:
    """Lets no file grow beyond `size_bytes` while the block runs: what is longer is written in part."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
