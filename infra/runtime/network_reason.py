"""The words for an error of the network: the reason alone, because the address stands beside it as it was given."""

import os
import ssl
from typing import Final

NOT_BELIEVED: Final = "its certificate is not believed"
# What OpenSSL says of an answer that is no TLS.
_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")


def network_reason(error: BaseException) -> str:
    """Returns the system's words for `error`, without what asyncio, uvloop and aiohttp put around them."""
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    if isinstance(cause, ssl.SSLError):
        return _tls_reason(cause)
    if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
        return os.strerror(cause.errno)
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    words = getattr(cause, "strerror", None) or getattr(cause, "message", None) or str(cause) or type(cause).__name__
    return str(words).partition("\n")[0].rstrip(":")


def _tls_reason(error: ssl.SSLError) -> str:
    """Returns the words for what went wrong with TLS. The number of such an error is none of the system's."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{NOT_BELIEVED}: {error.verify_message.rstrip('.')}"
    words = (getattr(error, "reason", None) or "the handshake failed").replace("_", " ").lower()
    return f"it does not speak TLS ({words})" if getattr(error, "reason", None) in _NO_TLS else f"TLS: {words}"
