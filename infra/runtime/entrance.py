"""The entrance of a door or a link port: who gets a place, what becomes of them, and what the others are told."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from infra.kernel.errors import Refused
from infra.kernel.places import HeldPlace, Places

ProtocolFactory = Callable[[HeldPlace], asyncio.Protocol]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """The way from a socket that `Acceptor` has accepted to what is behind the door.

    - `places`: where a place is taken before anything else is done, such as a TLS handshake.
    - `make`: makes the protocol of a connection that has a place. The protocol gives the place back when the connection is lost.
    - `refusal`: the bytes that one without a place is told in plain. With TLS they would cost a handshake, so nothing is said.
    """

    places: Places
    make: ProtocolFactory
    refusal: Callable[[Refused], bytes]
