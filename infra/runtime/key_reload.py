"""What SIGHUP does to the keys of a process: their files are read anew, and public keys behind a URL are fetched."""

from collections.abc import Callable

from .keys import Keys
from .logs import Logger
from .renewal import renewed


def key_reload(keys: Keys, fetch: Callable[[], object], log: Logger) -> Callable[[], None] | None:
    """Returns the step that renews `keys`; None where nothing could have changed.

    `fetch` starts `keys.refresh()`. Files that cannot be used are logged, and the keys stay as they are.
    """
    if not keys.can_change:
        return None

    def renew() -> None:
        renewed("keys", keys.reload, log)
        fetch()

    return renew
