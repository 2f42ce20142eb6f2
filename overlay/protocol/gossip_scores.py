"""Scores of GossipSub v1.1: what a node thinks of each of its peers, P1 to P7 (libp2p, gossipsub v1.1, "The Score Function"). Pure.

Numbers are fixed: counters and weights are in thousandths, scores in millionths. `settings` has SETTINGS numbers, at the places named
below. For each peer and topic there are COUNTERS counters, from `at` on. They fade: at each heartbeat a counter keeps its factor of itself.

- P1 time in the mesh; P2 events that the peer brought first; P3 events that it brought first or nearly so while in the mesh, where too few
  are bad; P3b what was lacking when it left the mesh; P4 invalid events: these are by topic.
- P5 what the application thinks; P6 peers on one host; P7 bad behaviour: these are of the peer as a whole.
"""

from typing import Final

from .buffer import Buffer

ONE: Final = 1000
# Squares of counters, times weights, stay far below 2^63.
MOST: Final = 10_000_000
NOT_IN_MESH: Final = -1

# Places of counters.
FIRST: Final = 0
DELIVERED: Final = 1
FAILED: Final = 2
INVALID: Final = 3
COUNTERS: Final = 4

# Places of settings: weights and caps of topics, in thousandths, and times in microseconds.
TOPIC_WEIGHT: Final = 0
TIME_WEIGHT: Final = 1
TIME_QUANTUM_US: Final = 2
TIME_CAP: Final = 3
FIRST_WEIGHT: Final = 4
FIRST_KEEPS: Final = 5
FIRST_CAP: Final = 6
DELIVERY_WEIGHT: Final = 7
DELIVERY_KEEPS: Final = 8
DELIVERY_CAP: Final = 9
DELIVERY_LEAST: Final = 10
DELIVERY_ACTIVE_US: Final = 11
DELIVERY_WINDOW_US: Final = 12
FAILURE_WEIGHT: Final = 13
FAILURE_KEEPS: Final = 14
INVALID_WEIGHT: Final = 15
INVALID_KEEPS: Final = 16
# Of the peer as a whole. The cap of all topics is in millionths; 0 is none.
TOPICS_CAP: Final = 17
APPLICATION_WEIGHT: Final = 18
HOST_WEIGHT: Final = 19
HOST_MOST: Final = 20
BEHAVIOUR_WEIGHT: Final = 21
BEHAVIOUR_KEEPS: Final = 22
# A counter below this is 0.
LEAST: Final = 23
# Thresholds, in millionths.
GOSSIP_FROM: Final = 24
PUBLISH_FROM: Final = 25
GRAYLIST_BELOW: Final = 26
EXCHANGE_FROM: Final = 27
OPPORTUNISTIC_BELOW: Final = 28
SETTINGS: Final = 29


def count_first(settings: Buffer, counters: Buffer, at: int) -> None:
    """Counts an event that the peer was the first to bring (P2)."""
    counters[at + FIRST] = min(counters[at + FIRST] + ONE, settings[FIRST_CAP])


def count_delivery(settings: Buffer, counters: Buffer, at: int) -> None:
    """Counts an event that the peer brought from the mesh, first or nearly so (P3)."""
    counters[at + DELIVERED] = min(counters[at + DELIVERED] + ONE, settings[DELIVERY_CAP])


def count_invalid(counters: Buffer, at: int) -> None:
    """Counts an invalid event (P4)."""
    counters[at + INVALID] = min(counters[at + INVALID] + ONE, MOST)


def count_failure(settings: Buffer, counters: Buffer, at: int, in_mesh_us: int) -> None:
    """Notes what is lacking of a peer's deliveries when it leaves the mesh, after `in_mesh_us` in it (P3b)."""
    lacking = deficit(settings, counters, at, in_mesh_us)
    counters[at + FAILED] = min(counters[at + FAILED] + lacking * lacking // ONE, MOST)


def deficit(settings: Buffer, counters: Buffer, at: int, in_mesh_us: int) -> int:
    """Returns how many deliveries are lacking, in thousandths: 0 in the first time in the mesh, and outside of it."""
    if in_mesh_us <= settings[DELIVERY_ACTIVE_US]:
        return 0
    return max(0, settings[DELIVERY_LEAST] - counters[at + DELIVERED])


def topic_score(settings: Buffer, counters: Buffer, at: int, in_mesh_us: int) -> int:
    """Returns what a topic adds to a peer's score (P1 to P4). `in_mesh_us` is NOT_IN_MESH for a peer outside the mesh."""
    lacking = deficit(settings, counters, at, in_mesh_us)
    score = settings[FIRST_WEIGHT] * counters[at + FIRST]
    score += settings[DELIVERY_WEIGHT] * (lacking * lacking // ONE)
    score += settings[FAILURE_WEIGHT] * counters[at + FAILED]
    score += settings[INVALID_WEIGHT] * (counters[at + INVALID] * counters[at + INVALID] // ONE)
    if in_mesh_us > 0:
        score += settings[TIME_WEIGHT] * min(in_mesh_us // settings[TIME_QUANTUM_US] * ONE, settings[TIME_CAP])
    return settings[TOPIC_WEIGHT] * score // ONE


def peer_score(settings: Buffer, topics: int, application: int, on_host: int, misbehaved: int) -> int:
    """Returns the score of a peer.

    - `topics`: what its topics add together. `application`: the application's opinion, in thousandths (P5).
    - `on_host`: how many peers are on its host, itself included (P6). `misbehaved`: its counter of bad behaviour (P7).
    """
    score = min(topics, settings[TOPICS_CAP]) if settings[TOPICS_CAP] > 0 else topics
    score += settings[APPLICATION_WEIGHT] * application
    surplus = max(0, on_host - settings[HOST_MOST])
    score += settings[HOST_WEIGHT] * (surplus * surplus * ONE)
    return score + settings[BEHAVIOUR_WEIGHT] * (misbehaved * misbehaved // ONE)


def fade(settings: Buffer, counters: Buffer, at: int) -> None:
    """Lets the counters of a peer and topic fade by one heartbeat."""
    counters[at + FIRST] = faded(counters[at + FIRST], settings[FIRST_KEEPS], settings[LEAST])
    counters[at + DELIVERED] = faded(counters[at + DELIVERED], settings[DELIVERY_KEEPS], settings[LEAST])
    counters[at + FAILED] = faded(counters[at + FAILED], settings[FAILURE_KEEPS], settings[LEAST])
    counters[at + INVALID] = faded(counters[at + INVALID], settings[INVALID_KEEPS], settings[LEAST])


def faded(counter: int, keeps: int, least: int) -> int:
    """Returns what is left of a counter that keeps so many thousandths of itself."""
    left = counter * keeps // ONE
    return left if left >= least else 0
