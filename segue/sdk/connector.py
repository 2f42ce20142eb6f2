"""The connector of an application: what opens its connections, and checks with whom."""

import ssl
from pathlib import Path

import aiohttp

from infra.kernel.errors import ConfigError
from infra.runtime.tls.contexts import client_context
from segue.sdk.errors import Misuse
from segue.sdk.trust import CaFile


def connector(ca_file: CaFile, tls: ssl.SSLContext | None = None) -> aiohttp.TCPConnector:
    """Returns what opens connections. The certificate of the server and the name in it are checked.

    - `ca_file`: the authorities to believe, as PEM; None: those that this machine trusts.
    - `tls`: a context of the application's own, instead.

    Raises Misuse for a file that cannot be used. It must be called within a running loop.
    """
    if ca_file is None:
        return aiohttp.TCPConnector(ssl=tls or True)
    try:
        return aiohttp.TCPConnector(ssl=client_context(Path(ca_file)))
    except ConfigError as error:
        raise Misuse(f"ca_file: {error}") from None
