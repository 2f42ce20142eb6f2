"""Ports that stay free, and those that are free again."""

import asyncio
import socket

import pytest

from segue.cluster.ports import until_free
from tests.support.eventually import DEADLINE_S, eventually


async def test_whoever_wants_a_port_that_a_connection_was_given_waits_until_that_is_gone() -> None:
    """The port of a door is free while its process is down, and may be that of any connection then."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as connection:
        host, port = connection.getsockname()
        waiting = asyncio.create_task(until_free(f"{host}:{port}", DEADLINE_S))
        await asyncio.sleep(0)
        assert not waiting.done()
        accepted, _ = server.accept()
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")  # nothing is left of it
        accepted.close()
        connection.close()
        await eventually(waiting.done, "the port is not free again")


async def test_whoever_waits_in_vain_for_a_port_is_told_which_one_it_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        with pytest.raises(TimeoutError, match=f"somebody else has {host}:{port} for 0.01 s; find them"):
            await until_free(f"{host}:{port}", 0.01)
