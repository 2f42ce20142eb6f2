"""Trust: which servers an application believes when it connects with TLS. Pure."""

import ssl
from os import PathLike
from typing import TypeAlias

from segue.sdk.errors import Misuse

CaFile: TypeAlias = str | PathLike[str] | None


def check_trust(ca_file: CaFile, tls: ssl.SSLContext | None) -> None:
    """Raises Misuse where both are given: a context has its own authorities."""
    if ca_file is not None and tls is not None:
        raise Misuse("give either ca_file or tls: a context has authorities of its own (tls.load_verify_locations)")
