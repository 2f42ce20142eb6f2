"""The words for an error of the network: the reason alone, because the address stands beside it as it was given."""

import os


def network_reason(error: BaseException) -> str:
    """Returns the system's words for `error`, without what asyncio, uvloop and aiohttp put around them."""
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error
    if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
        return os.strerror(cause.errno)
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    words = getattr(cause, "strerror", None) or getattr(cause, "message", None) or str(cause) or type(cause).__name__
    return str(words).partition("\n")[0].rstrip(":")
