"""The words for an error of the network: the reason alone, because the address stands beside it as it was given."""

import os
import ssl
from typing import Final

NOT_BELIEVED: Final = "its certificate is not believed"
OURS_NOT_BELIEVED: Final = "our certificate is not believed there"
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
    reason = getattr(error, "reason", None) or "the handshake failed"
    words = reason.replace("_", " ").lower()
    if is_about_our_certificate(error):
        return f"{OURS_NOT_BELIEVED}: {words.partition(' alert ')[2]}"
    return f"it does not speak TLS ({words})" if reason in _NO_TLS else f"TLS: {words}"


def is_about_our_certificate(error: ssl.SSLError) -> bool:
    """Returns whether the peer has broken TLS off because of the certificate that we show."""
    words = getattr(error, "reason", None) or ""
    return "_ALERT_" in words and ("CERTIFICATE" in words or "UNKNOWN_CA" in words)
