"""What SIGHUP does: files are read again, and what cannot be used leaves everything as it is."""

from collections.abc import Callable, Mapping

from infra.kernel.errors import ConfigError
from infra.kernel.every_one import for_every_one

from .logs import Logger


def renewed(what: str, read: Callable[[], Mapping[str, object] | None], log: Logger) -> bool:
    """Has `read` read the files of `what` again, and returns whether it did. `log` is told of it.

    What `read` returns is shown in the log. It raises ConfigError for files that cannot be used, and changes nothing then.
    """
    try:
        shown = read()
    except ConfigError as error:
        log.error(f"{what} not read again; what was there stays", reason=str(error))
        return False
    log.info(f"{what} read again", **(shown or {}))
    return True


def all_of(*steps: Callable[[], object] | None) -> Callable[[], None] | None:
    """Returns a step that takes all of `steps` that there are, whatever one of them raises; None where there is none."""
    found = [step for step in steps if step is not None]
    return (lambda: for_every_one(found)) if found else None
