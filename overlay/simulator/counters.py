"""What nodes have received, in messages and bytes, by kind."""

from typing import Final

from ..protocol.buffer import Buffer

# A first copy of an event that the receiver wants, a later copy, and an event of a topic that the receiver does not want (a relay).
CONTROL: Final = 0
EVENT: Final = 1
DUPLICATE: Final = 2
UNWANTED: Final = 3
KINDS: Final = 4
NAMES: Final = ("control", "event", "duplicate", "unwanted")


def count(messages: Buffer, sizes: Buffer, node: int, kind: int, size: int) -> None:
    """Counts one message of `size` bytes. `messages` and `sizes` have KINDS places for each node."""
    at = node * KINDS + kind
    messages[at] += 1
    sizes[at] += size
