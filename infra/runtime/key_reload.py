"""What SIGHUP does to the keys of a process: their files are read anew, and public keys behind a URL are fetched."""

from collections.abc import Callable

from infra.kernel.errors import ConfigError
from infra.kernel.every_one import for_every_one

from .keys import Keys
from .logs import Logger


def key_reload(keys: Keys, fetch: Callable[[], object], log: Logger) -> Callable[[], None] | None:
    """Returns the step that renews `keys`; None where nothing could have changed.

    `fetch` starts `keys.refresh()`. Files that cannot be used are logged, and the keys stay as they are.
    """
    if not keys.can_change:
        return None

    def renew() -> None:
        try:
            keys.reload()
        except ConfigError as error:
            log.error("keys not read anew; the old ones stay", reason=str(error))
        else:
            log.info("keys read anew")
        fetch()

    return renew


def all_of(*steps: Callable[[], object] | None) -> Callable[[], None] | None:
    """Returns a step that takes all of `steps` that there are, whatever one of them raises; None where there is none."""
    found = [step for step in steps if step is not None]
    return (lambda: for_every_one(found)) if found else None
