"""The bytes of the parts of messages, as they would be on a network. Counters of bytes use these, for every system alike."""

from typing import Final

# A message of UDP over IPv4 (28), its kind (1), version (1) and number of entries (2).
HEADER: Final = 32
ADDRESS: Final = 6
ID: Final = 8
AGE: Final = 2
TOPIC: Final = 8
PRIORITY: Final = 1
EVENT_ID: Final = 8
# The same for all systems, and about what a friend's play is in JSON.
PAYLOAD: Final = 200
EVENT: Final = HEADER + TOPIC + EVENT_ID + PAYLOAD


def profile(topics: int) -> int:
    """Returns the bytes of a profile with so many topics, each with its priority."""
    return ADDRESS + ID + topics * (TOPIC + PRIORITY)


def entry(topics: int) -> int:
    """Returns the bytes of a profile and its age, as it stands in a gossip message."""
    return profile(topics) + AGE
