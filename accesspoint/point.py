"""Point: a place in the streams of a site's brokers, as a text that means nothing to clients. Pure.

It holds no secret and gives no right. Who makes one up says only from where on they want to be served: they get what they may follow
anyway, and what no broker can have given is found to be so there.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.frames import Name, Stamps

from .messages import MAX_POINT_CHARS

# Grows when a point is written in another way: older ones are then taken for none.
VERSION: Final = 1


class Point(msgspec.Struct, frozen=True, array_like=True):
    """Up to where somebody has got everything of the brokers of `site`: epoch -> stamp."""

    version: int
    site: Name
    stamps: Stamps


def write_point(site: str, stamps: Mapping[int, int]) -> str | None:
    """Returns the point at `stamps` of the brokers of `site`; None where there are none, or more than fit."""
    if not stamps:
        return None
    text = urlsafe_b64encode(msgspec.msgpack.encode(Point(VERSION, site, dict(stamps)))).decode().rstrip("=")
    return text if len(text) <= MAX_POINT_CHARS else None


def read_point(text: str) -> Point:
    """Returns the point that was written as `text`. Raises `Refused("bad-field")` for what is none."""
    try:
        point = msgspec.msgpack.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=Point)
    except (ValueError, msgspec.DecodeError, RecursionError):
        raise Refused("bad-field", "point is not one that an access point has given; leave it out") from None
    if point.version != VERSION:
        raise Refused("bad-field", f"point is of version {point.version}, and this is {VERSION}; leave it out")
    return point
