"""Open files: how many files and sockets this process may have."""

import resource
from contextlib import suppress

from infra.kernel.errors import ConfigError


def allow_open_files(count: int) -> int:
    """Raises the soft limit to `count`, or as far as the hard one lets it, and returns what it is then. It is never lowered.

    Shells start programs with 256 to 1,024. That is meant for programs that open files; here each client is one.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return count
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if wanted > soft:
        with suppress(ValueError, OSError):  # macOS says that there is no limit, and has one
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def need_open_files(count: int) -> None:
    """Raises ConfigError unless this process may have `count` files open. It says how to get them."""
    if (allowed := allow_open_files(count)) < count:
        raise ConfigError(f"{count} open files are needed and only {allowed} allowed; ask for less, or as root: ulimit -Hn {count}")
