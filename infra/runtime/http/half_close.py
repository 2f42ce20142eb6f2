"""Half-close: the end of a connection on which the peer may still be sending."""

from asyncio import WriteTransport


def half_close(transport: WriteTransport) -> None:
    """Closes our half of the connection, behind what is still to be written. What still comes is to be thrown away.

    A connection that the peer has reset, which the loop may not have told yet, has no half to close: it is aborted.
    """
    try:
        transport.write_eof()
    except OSError:
        transport.abort()
