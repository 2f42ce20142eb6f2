"""Who owns a topic: the same everywhere, evenly spread, and with as few moves as can be."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel import ring as ring_module
from infra.kernel.ring import CELL_SHIFT, CELLS, POINTS, Ring, hash64, hashes64
from infra.kernel.topics import user_topic

SPACE: Final = 1 << 64
SAMPLE = [hash64(user_topic(f"user-{n}")) for n in range(20_000)]
FAR_APART = 97


def slots(count: int) -> list[str]:
    return [f"b{n}" for n in range(1, count + 1)]


class Move(NamedTuple):
    """Keys whose hash lies in [start, end) belong to `target` now and belonged to `source` before."""

    start: int
    end: int
    source: str | None
    target: str | None


def ranges(*rings: Ring) -> Iterator[tuple[int, int]]:
    """Returns the hash space, cut wherever an owner may change on any of `rings`."""
    return pairwise(sorted({0, SPACE, *(point for ring in rings for point in ring._points)}))


def moves(before: Ring, after: Ring) -> list[Move]:
    """Returns all that changes hands when `after` replaces `before`, exactly."""
    found = [Move(start, end, before.owner_at(start), after.owner_at(start)) for start, end in ranges(before, after)]
    return [move for move in found if move.source != move.target]


def shares(ring: Ring) -> dict[str | None, float]:
    """Returns each slot's share of the hash space, exactly."""
    lengths = Counter[str | None]()
    for start, end in ranges(ring):
        lengths[ring.owner_at(start)] += end - start
    return {slot: length / SPACE for slot, length in lengths.items()}


def deviation(share: float, draws: int) -> float:
    """Returns the standard deviation of the part of `draws` that hits a share."""
    return float((share * (1 - share) / draws) ** 0.5)


def moved(moves: Iterable[Move]) -> float:
    return sum(move.end - move.start for move in moves) / SPACE


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes a hash with few values: slots share points all the time."""
    monkeypatch.setattr(ring_module, "point_of", lambda name: hash64(name) % FAR_APART)


def test_owners_are_what_they_were_in_every_version_and_process() -> None:
    """SB-17: a change of hash or layout, ours or a library's, would split a site that is being upgraded."""
    owners = [Ring(["b1", "b2", "b3"]).owner(b"U%d" % n) for n in range(24)]
    assert owners == [f"b{n}" for n in (1, 1, 3, 1, 2, 3, 1, 1, 3, 2, 1, 3, 1, 2, 2, 1, 2, 2, 2, 2, 3, 3, 1, 2)]
    assert (hash64(b"Uann"), hash64("b1-0")) == (12484999247872869884, 4063025036697252905)


@given(st.permutations(slots(5)), st.lists(st.sampled_from(slots(5))))
@settings(max_examples=20)
def test_the_order_of_the_slots_does_not_matter_nor_naming_one_twice(order: list[str], again: list[str]) -> None:
    """SB-17."""
    ring = Ring(order + again, points=16)
    assert ring == Ring(slots(5), points=16)
    assert hash(ring) == hash(Ring(slots(5), points=16))
    assert ring.slots == tuple(slots(5))


def test_an_empty_ring_owns_nothing() -> None:
    empty, full = Ring([]), Ring(["b1"])
    assert (empty.owner(b"Uann"), full.owner(b"Uann")) == (None, "b1")
    assert empty != full


@pytest.mark.parametrize("brokers", range(3, 17))
def test_of_a_million_topics_no_broker_holds_more_than_five_quarters_of_the_mean(brokers: int) -> None:
    """SB-19: the shares are exact, a million topics are that many draws, and the sample shows that hashes are such draws."""
    ring = Ring(slots(brokers))
    exact = shares(ring)
    assert sum(exact.values()) == pytest.approx(1)
    drawn = Counter(map(ring.owner_at, SAMPLE))
    for slot, share in exact.items():
        assert share + 5 * deviation(share, 10**6) < 1.25 / brokers
        assert abs(drawn[slot] / len(SAMPLE) - share) < 5 * deviation(share, len(SAMPLE))


@pytest.mark.parametrize("brokers", range(3, 17))
def test_one_more_broker_takes_few_topics_and_only_to_itself(brokers: int) -> None:
    """SB-20, and the same backwards: one that leaves moves its own topics and no others."""
    before, after = Ring(slots(brokers)), Ring(slots(brokers + 1))
    coming, going = moves(before, after), moves(after, before)
    assert 0 < moved(coming) <= 1.5 / (brokers + 1)
    assert {move.target for move in coming} == {f"b{brokers + 1}"}
    assert going == [Move(start, end, target, source) for start, end, source, target in coming]


TAKEN = st.dictionaries(st.sampled_from(slots(6)), st.integers(0, POINTS), min_size=2).filter(lambda taken: any(taken.values()))


@given(TAKEN, st.data())
@settings(max_examples=60)
def test_a_share_that_rises_moves_topics_to_its_slot_alone_and_one_that_falls_from_it_alone(
    taken: dict[str, int], data: st.DataObject
) -> None:
    """DPS-15: whatever the others have, and however far it goes."""
    slot, share = data.draw(st.sampled_from(sorted(taken))), data.draw(st.integers(0, POINTS))
    before, after = Ring(taken, shares=taken), Ring(taken, shares=taken | {slot: share})
    if share > taken[slot]:
        assert {move.target for move in moves(before, after)} <= {slot}
    else:
        assert {move.source for move in moves(before, after)} <= {slot}


@given(TAKEN)
@settings(max_examples=30)
def test_a_slot_with_no_share_owns_nothing_and_is_as_good_as_not_there(taken: dict[str, int]) -> None:
    ring = Ring(taken, shares=taken)
    assert ring == Ring([slot for slot, share in taken.items() if share], shares=taken)
    assert ring.slots == tuple(sorted(slot for slot, share in taken.items() if share))


def test_slots_that_have_all_their_points_make_the_ring_without_shares() -> None:
    """What an older peer reckons, which knows nothing of shares."""
    assert Ring(slots(4), shares=dict.fromkeys(slots(4), POINTS)) == Ring(slots(4))


def test_nobody_owns_anything_where_nobody_has_a_share() -> None:
    assert Ring(slots(3), shares=dict.fromkeys(slots(3), 0)).owner(b"Uann") is None


@pytest.mark.parametrize("share", [32, 64, 128, 224])
def test_what_a_slot_owns_follows_from_its_share(share: int) -> None:
    """DPS-15: a third of the points among full ones is about a third of what it owns in the end."""
    owned = shares(Ring(slots(4), shares={"b4": share}))["b4"]
    assert owned == pytest.approx(share / (share + 3 * POINTS), rel=0.35)


@given(TAKEN, TAKEN)
@settings(max_examples=30)
def test_the_parts_of_two_rings_are_what_stays_and_what_moves(one: dict[str, int], other: dict[str, int]) -> None:
    before, after = Ring(one, shares=one), Ring(other, shares=other)
    parts = before.parts(after)
    assert sum(parts.values()) == pytest.approx(1)
    assert sum(part for (owner, later), part in parts.items() if owner != later) == pytest.approx(moved(moves(before, after)))
    for slot, share in shares(before).items():
        assert sum(part for (owner, _), part in parts.items() if owner == slot) == pytest.approx(share)


@pytest.mark.usefixtures("coarse")
def test_slots_whose_points_collide_are_told_apart_the_same_way_everywhere() -> None:
    """Eight slots with 16 points each on 97 places: order does not matter, additions and removals move only what they must."""
    rng = random.Random(1)
    for _ in range(50):
        some = rng.sample(slots(9), rng.randint(2, 8))
        ring = Ring(some, points=16)
        assert ring == Ring(rng.sample(some, len(some)), points=16)
        leaving = rng.choice(some)
        smaller = Ring(set(some) - {leaving}, points=16)
        for hashed in range(FAR_APART):
            assert ring.owner_at(hashed) in (leaving, smaller.owner_at(hashed))


def test_a_key_is_owned_by_the_first_point_after_it_around_the_circle() -> None:
    """Against a search through all points, the rule of the literature."""
    ring = Ring(slots(5), points=8)
    points = sorted((hash64(f"{slot}-{n}"), slot) for slot in slots(5) for n in range(8))
    for hashed in [*SAMPLE[:300], 0, SPACE - 1]:
        after = [slot for point, slot in points if point > hashed]
        assert ring.owner_at(hashed) == (after or [points[0][1]])[0]


@given(TAKEN, TAKEN)
@settings(max_examples=30)
def test_what_moves_lies_in_a_moved_cell_and_what_a_slot_owns_in_one_of_its_cells(one: dict[str, int], other: dict[str, int]) -> None:
    before, after = Ring(one, shares=one), Ring(other, shares=other)
    moved_cells, cells = before.moved_cells(after), {slot: before.cells_of(slot) for slot in one}
    assert (moved_cells[0], {of[0] for of in cells.values()}) == (1, {1})  # there is also what nobody has hashed
    for hashed in SAMPLE[:5_000]:
        owner = before.owner_at(hashed)
        assert owner == after.owner_at(hashed) or moved_cells[hashed >> CELL_SHIFT]
        assert owner is None or cells[owner][hashed >> CELL_SHIFT]


@given(TAKEN, TAKEN)
@settings(max_examples=30)
def test_many_keys_at_a_time_have_the_owners_and_the_moves_that_each_of_them_has(one: dict[str, int], other: dict[str, int]) -> None:
    before, after, keys = Ring(one, shares=one), Ring(other, shares=other), [b"%d" % n for n in range(2_000)]
    hashes = hashes64(keys)
    assert list(hashes) == [hash64(key) for key in keys]
    assert before.owners(keys) == [before.owner(key) for key in keys]
    edges, step = [*hashes, 0, SPACE - 1, *before._points, *after._points], before.step(after)
    moves = [step.moves[at] if at >= 0 else None for at in step.moving(edges)]
    owners = [(before.owner_at(hashed), after.owner_at(hashed)) for hashed in edges]
    assert moves == [move if move[0] != move[1] else None for move in owners]
    assert (before.step(before).moves, Ring(()).owners(keys[:2])) == ([], [None, None])


def test_a_small_step_moves_few_cells() -> None:
    before, after = (Ring("abc", shares={"a": 256, "b": 256, "c": share}) for share in (0, 32))
    assert sum(before.moved_cells(after)) < CELLS / 8
    assert sum(before.moved_cells(before)) == 1


@given(st.dictionaries(st.sampled_from(slots(6)), st.integers(0, POINTS), min_size=1), st.integers(0, SPACE - 1))
def test_the_heir_is_who_would_own_a_key_if_its_owner_were_not_there(taken: dict[str, int], hashed: int) -> None:
    """DPS-18: whatever shares there are; with a single slot there is none."""
    ring = Ring(taken, shares=taken)
    owner, heir = ring.owner_at(hashed), ring.heir_at(hashed)
    others = Ring([slot for slot in taken if slot != owner], shares=taken)
    assert heir == others.owner_at(hashed)
    if owner is not None and heir is not None:
        assert heir in ring.heirs(owner) <= {*others.slots}
