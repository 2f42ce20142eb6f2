"""GossipSub: whom a node takes into its mesh, whom it keeps, and to whom it gossips (libp2p, gossipsub v1.0 and v1.1). Pure.

A node forwards the events of a topic to its mesh: about `wanted` of the peers that subscribe to the topic, at least `low`, at most `high`.
To some of the others it says which events it has.
"""

from typing import Final

from .buffer import Buffer
from .chance import shuffle

# What becomes of a GRAFT. REFUSED: the answer is a PRUNE. PREMATURE: the same, and the peer has misbehaved. IGNORED: no answer.
ACCEPTED: Final = 0
REFUSED: Final = 1
PREMATURE: Final = 2
IGNORED: Final = 3


def graft_verdict(is_in_mesh: bool, backs_off: bool, score: int, size: int, high: int, is_outbound: bool) -> int:
    """Returns what becomes of a GRAFT for a topic that the node subscribes to (v1.1, "PRUNE Backoff", "Outbound Mesh Quotas").

    - `backs_off`: the backoff between the two is not over. `score`: of the peer.
    - `size`: of the mesh. `is_outbound`: the node has dialled the peer itself.
    """
    if is_in_mesh:
        return IGNORED
    if backs_off:
        return PREMATURE
    if score < 0 or (size >= high and not is_outbound):
        return REFUSED
    return ACCEPTED


def lacking(size: int, low: int, wanted: int) -> int:
    """Returns how many peers a mesh of `size` needs."""
    return wanted - size if size < low else 0


def lacking_outbound(size: int, low: int, outbound: int, quota: int) -> int:
    """Returns how many outbound peers a mesh needs that is large enough (v1.1, "Outbound Mesh Quotas")."""
    return max(0, quota - outbound) if size >= low else 0


def gossip_targets(candidates: int, lazy: int, factor_permille: int) -> int:
    """Returns to how many of the peers outside the mesh a node gossips (v1.1, "Adaptive Gossip Dissemination")."""
    return min(candidates, max(lazy, candidates * factor_permille // 1000))


def choose_kept(
    streams: Buffer, at: int, peers: Buffer, scores: Buffer, outbound: Buffer, count: int, wanted: int, best: int, quota: int
) -> None:
    """Reorders the `count` peers of a mesh so that the first `wanted` are those that stay (v1.1, "Heartbeat Maintenance").

    - `streams[at]`: the random stream. `scores`, `outbound`: of each of `peers`; they are reordered with them.
    - `best`: so many stay for their scores; the rest is random. `quota`: so many outbound ones stay, if there are that many.
    """
    _shuffle_rows(streams, at, peers, scores, outbound, count)
    for place in range(min(best, count)):
        _swap(peers, scores, outbound, place, _best(scores, place, count))
    have = 0
    for place in range(min(wanted, count)):
        have += outbound[place]
    # Outbound peers take the places of others, of the random ones first.
    place, beyond = min(wanted, count) - 1, wanted
    while have < quota and place >= 0 and beyond < count:
        if outbound[beyond] == 0:
            beyond += 1
        elif outbound[place] == 1:
            place -= 1
        else:
            _swap(peers, scores, outbound, place, beyond)
            have += 1


def median(scores: Buffer, count: int) -> int:
    """Returns the median of the first `count` scores, which it sorts; of two in the middle, the higher one."""
    for place in range(1, count):
        here, score = place, scores[place]
        while here > 0 and scores[here - 1] > score:
            scores[here] = scores[here - 1]
            here -= 1
        scores[here] = score
    return scores[count // 2]


def _shuffle_rows(streams: Buffer, at: int, peers: Buffer, scores: Buffer, outbound: Buffer, count: int) -> None:
    """Shuffles three buffers alike: all are shuffled with the same part of the stream."""
    before = streams[at]
    shuffle(streams, at, scores, 0, count)
    streams[at] = before
    shuffle(streams, at, outbound, 0, count)
    streams[at] = before
    shuffle(streams, at, peers, 0, count)


def _best(scores: Buffer, first: int, count: int) -> int:
    """Returns the place of the best score from `first` on."""
    found = first
    for place in range(first + 1, count):
        if scores[place] > scores[found]:
            found = place
    return found


def _swap(peers: Buffer, scores: Buffer, outbound: Buffer, one: int, other: int) -> None:
    peers[one], peers[other] = peers[other], peers[one]
    scores[one], scores[other] = scores[other], scores[one]
    outbound[one], outbound[other] = outbound[other], outbound[one]
