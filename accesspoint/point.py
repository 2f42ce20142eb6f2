"""Point: a place in the streams of a site's brokers, as a text that means nothing to clients. Pure.

It holds no secret and gives no right. Who makes one up says only from where on they want to be served: they get what they may follow
anyway, and what no broker can have given is found to be so there.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from itertools import islice
from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.frames import Name, Stamps

from .messages import MAX_POINT_CHARS

# Grows when a point is written in another way: older ones are then taken for none.
VERSION: Final = 1
# An epoch and its stamp take so much at most, and the number of them so much more where there are many.
STAMP_BYTES: Final = 18
MAP_BYTES: Final = 4


class Point(msgspec.Struct, frozen=True, array_like=True):
    """Up to where somebody has got everything of the brokers of `site`: epoch -> stamp."""

    version: int
    site: Name
    stamps: Stamps


def write_point(site: str, stamps: Mapping[int, int], *, spare: int = 0) -> str | None:
    """Returns the point at `stamps` of the brokers of `site`; None where there are none, or more than fit.

    The last `spare` of them are left out as far as they do not fit.
    """
    if not stamps:
        return None
    if len(text := _text(site, stamps)) <= MAX_POINT_CHARS:
        return text
    named = dict(islice(stamps.items(), len(stamps) - spare))
    room = (MAX_POINT_CHARS * 3 - len(_text(site, named)) * 3) // 4 - MAP_BYTES
    text = _text(site, dict(islice(stamps.items(), len(named) + max(0, min(spare, room // STAMP_BYTES)))))
    return text if len(text) <= MAX_POINT_CHARS else None


def _text(site: str, stamps: Mapping[int, int]) -> str:
    return urlsafe_b64encode(msgspec.msgpack.encode(Point(VERSION, site, dict(stamps)))).decode().rstrip("=")


def read_point(text: str) -> Point:
    """Returns the point that was written as `text`. Raises `Refused("bad-field")` for what is none."""
    try:
        point = msgspec.msgpack.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=Point)
    except (ValueError, msgspec.DecodeError, RecursionError):
        raise Refused("bad-field", "point is not one that an access point has given; leave it out") from None
    if point.version != VERSION:
        raise Refused("bad-field", f"point is of version {point.version}, and this is {VERSION}; leave it out")
    return point
