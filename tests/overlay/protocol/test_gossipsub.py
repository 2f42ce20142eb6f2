"""Whom a GossipSub node takes into its mesh, keeps, and gossips to."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.chance import begin
from overlay.protocol.gossipsub import (
    ACCEPTED,
    IGNORED,
    PREMATURE,
    REFUSED,
    choose_kept,
    gossip_targets,
    graft_verdict,
    lacking,
    lacking_outbound,
    median,
)

D, LOW, HIGH, BEST, OUT = 6, 4, 12, 4, 2
meshes = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 1)), min_size=D, max_size=20)


@given(st.booleans(), st.booleans(), st.integers(-2, 2), st.integers(0, 16), st.booleans())
def test_a_graft_is_taken_unless_something_speaks_against_it(in_mesh: bool, backs_off: bool, score: int, size: int, outbound: bool) -> None:
    verdict = graft_verdict(in_mesh, backs_off, score, size, HIGH, outbound)
    if in_mesh:
        assert verdict == IGNORED
    elif backs_off:
        assert verdict == PREMATURE
    else:
        assert verdict == (ACCEPTED if score >= 0 and (size < HIGH or outbound) else REFUSED)


def test_a_mesh_below_its_bounds_is_filled_and_the_quota_of_outbound_peers_after_that() -> None:
    assert [lacking(size, LOW, D) for size in (0, 3, 4, 13)] == [6, 3, 0, 0]
    assert [lacking_outbound(size, LOW, have, OUT) for size, have in ((3, 0), (4, 0), (4, 1), (9, 2), (9, 5))] == [0, 2, 1, 0, 0]


@given(meshes, st.integers(1, 1000))
def test_the_best_stay_and_enough_outbound_ones_and_nobody_is_there_twice(mesh: list[tuple[int, int]], seed: int) -> None:
    streams = [0]
    begin(streams, 0, seed, 0)
    peers, count = list(range(len(mesh))), len(mesh)
    scores, outbound = [score for score, _ in mesh], [out for _, out in mesh]
    choose_kept(streams, 0, peers, scores, outbound, count, D, BEST, OUT)
    assert sorted(peers) == list(range(count))
    assert [(scores[at], outbound[at]) for at in range(count)] == [mesh[peer] for peer in peers]
    kept = peers[:D]
    assert sum(mesh[peer][1] for peer in kept) >= min(OUT, sum(out for _, out in mesh))
    # Of the best, as many stay as the quota leaves room for.
    ranked = sorted((score for score, _ in mesh), reverse=True)[: BEST - OUT]
    assert all(sum(mesh[peer][0] >= score for peer in kept) >= place + 1 for place, score in enumerate(ranked))


def test_those_that_stay_at_random_are_others_each_time() -> None:
    streams, seen = [0], set()
    begin(streams, 0, 5, 0)
    for _ in range(40):
        peers = list(range(14))
        choose_kept(streams, 0, peers, [9] * 4 + [0] * 10, [1] * 14, 14, D, BEST, OUT)
        assert set(peers[:D]) >= {0, 1, 2, 3}
        seen.update(peers[:D])
    assert seen == set(range(14))


def test_gossip_goes_to_a_share_of_the_peers_and_to_some_at_least() -> None:
    assert [gossip_targets(count, 6, 250) for count in (0, 3, 6, 20, 24, 40, 100)] == [0, 3, 6, 6, 6, 10, 25]
    assert gossip_targets(100, 6, 0) == 6


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=15))
def test_the_median_is_the_middle_one(scores: list[int]) -> None:
    assert median([*scores, 1000], len(scores)) == sorted(scores)[len(scores) // 2]
