"""Half-close: the end of a connection on which the peer may still be sending."""

from asyncio import WriteTransport, get_running_loop
from typing import Final

# So long a peer of TLS may go on sending, and has to read what was said last.
LINGER_S: Final = 1.0


def half_close(transport: WriteTransport, *, peer_is_done: bool = False) -> None:
    """Closes our half of the connection, behind what is still to be written.

    A connection that the peer has reset, which the loop may not have told yet, has no half to close: it is aborted. Connections of TLS
    close as a whole (asyncio): that waits for `LINGER_S`, unless the peer closes before, or has said that it is done. Its protocol throws
    away what still comes.
    """
    try:
        transport.write_eof()
    except NotImplementedError:
        if peer_is_done:
            transport.close()
        else:
            get_running_loop().call_later(LINGER_S, transport.close)
    except OSError:
        transport.abort()
