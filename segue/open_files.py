"""How many files and sockets this process may have open."""

import resource

from infra.kernel.errors import ConfigError


def allow_open_files(count: int) -> None:
    """Makes sure that this process may have `count` descriptors open, as far as its hard limit allows.

    Raises ConfigError when that is too low. What shells give by default (256 to 1024) is for programs that open files.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY in (soft, hard) or soft >= count:
        return
    if hard < count:
        raise ConfigError(f"{count} open files are needed and only {hard} allowed; ask for less, or as root: ulimit -Hn {count}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
