"""Since when a broker has owned its topics, and which stamps of former owners it understands."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from broker import tenure as tenures
from broker.tenure import MOST_CHANGES, MOVED, Tenure
from infra.kernel.frames import PastTenure, TenureChange, View
from infra.kernel.ring import CELLS, Ring
from infra.kernel.topics import Kind, Topic, parse_topic, user_topic

NOBODY, ONE, TWO, THREE = View(0, ()), View(1, ("b1",)), View(2, ("b1", "b2")), View(3, ("b1", "b2", "b3"))
BACK = View(4, ("b1", "b2"))
TOPICS = [user_topic(f"u{n}") for n in range(60)]
MINE = next(topic for topic in TOPICS if TWO.ring.owner(topic) == "b1")
OTHER = next(topic for topic in TOPICS if TWO.ring.owner(topic) == "b2")
PLAYLISTS = (parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(60))
PLAYLIST = next(topic for topic in PLAYLISTS if TWO.ring.owner(topic) == "b1")
# It goes from b1 to b2, and then to b3.
WANDERER = next(topic for topic in TOPICS if TWO.ring.owner(topic) == "b2" and THREE.ring.owner(topic) == "b3")


def reason(tenure: Tenure, topic: Topic, **stamps: int) -> str:
    """Returns why a broker cannot say what was missed of `topic`; empty where it can. `stamps`: e7=1 is the stamp 1 of epoch 7."""
    return tenure.descend(topic, {int(epoch[1:]): stamp for epoch, stamp in stamps.items()}).reason


def past(epoch: int, slot: str, tenure: Tenure | None = None, **horizons: int) -> list[PastTenure]:
    """Returns what a broker says of itself, and of others that it knows."""
    mine = PastTenure(epoch, slot, 90, horizons.get("evicted", 0), {"user": horizons.get("too_old", 0)}, [])
    return tenure.told(mine) if tenure is not None else [mine]


def test_what_came_before_a_change_of_owners_is_elsewhere() -> None:
    """DPS-5: `owner-lost` for what moved, and for nothing else."""
    tenure = Tenure("b1", 7)
    tenure.begin(TWO, ONE)
    assert reason(tenure, MINE, e7=5) == ""
    assert reason(tenure, OTHER, e7=1 << 60) == "owner-lost"  # the former owner may still have some of it on its way
    tenure.end(10, oldest=0)
    assert [reason(tenure, OTHER, e7=stamp) for stamp in (9, 10, 11)] == ["owner-lost", "", ""]
    assert reason(tenure, MINE, e7=0) == ""
    assert (tenure.has_moved(OTHER), tenure.has_moved(MINE)) == (True, False)


def test_it_is_known_when_topics_came_for_the_last_time() -> None:
    """DPS-4"""
    tenure = Tenure("b1", 7)
    assert tenure.came_at == 0
    tenure.begin(TWO, ONE)
    assert tenure.came_at is None
    tenure.end(10, oldest=0)
    assert tenure.came_at == 10
    tenure.end(12, oldest=11)
    assert tenure.came_at == 0, "nobody asks for what came before that any more"


def test_a_broker_that_begins_has_owned_nothing_before() -> None:
    tenure = Tenure("b1", 7)
    tenure.begin(NOBODY, ONE)
    tenure.end(3, oldest=0)
    assert [reason(tenure, MINE, e7=stamp) for stamp in (2, 3)] == ["owner-lost", ""]
    assert not tenure.has_moved(MINE), "nobody else has had it"


def test_so_many_changes_are_remembered_and_older_stamps_are_taken_for_lost() -> None:
    tenure = Tenure("b1", 7)
    for stamp in range(1, MOST_CHANGES + 3):
        tenure.begin(ONE, ONE)
        tenure.end(stamp, oldest=0)
    assert [reason(tenure, MINE, e7=stamp) for stamp in (1, 2, 3)] == ["owner-lost", "", ""]
    tenure.end(500, oldest=400)
    tenure.begin(TWO, ONE)
    tenure.end(501, oldest=400)
    assert reason(tenure, OTHER, e7=450) == "owner-lost"


def test_what_another_part_of_the_site_served_was_split_until_that_was_known() -> None:
    """DPS-19: what came to be known at a stamp concerns who was away before it, and nobody once nothing older is kept."""
    tenure = Tenure("b1", 7)
    tenure.split(TWO, 5)
    assert (reason(tenure, OTHER, e7=5), reason(tenure, OTHER, e7=6), reason(tenure, MINE, e7=0)) == ("split", "", "")
    assert past(7, "b1", tenure)[0].splits == [(5, TWO)]
    tenure.end(9, 6)
    assert reason(tenure, OTHER, e7=0) == ""


def test_a_stamp_of_a_former_owner_is_understood_when_that_one_has_handed_over() -> None:
    """DPS-13: by what it said of itself then."""
    awaited = {"b1"}
    tenure = Tenure("b2", 8, awaited.__contains__)
    tenure.begin(ONE, TWO)
    former = Tenure("b1", 7)
    former.begin(ONE, TWO)
    assert reason(tenure, OTHER, e7=5) == MOVED
    tenure.handed("b1", ONE, past(7, "b1", former), 3)
    awaited.clear()
    assert reason(tenure, OTHER, e7=5) == "owner-lost", "what it had handed over by then was something else"
    tenure.handed("b1", TWO, past(7, "b1", former, evicted=4), 3)
    assert reason(tenure, OTHER, e7=5) == MOVED
    tenure.end(10, oldest=0)
    descent = tenure.descend(OTHER, {7: 5, 8: 9})
    assert descent == ({8: 10, 7: 5}, "")
    assert tenure.descend(OTHER, {7: 5, 8: 12}) == ({8: 12}, "")
    assert [descent.seen({7: 5, 8: 9}).has(place) for place in ((7, 5), (7, 6), (8, 9), (8, 11), (6, 99))] == [
        True,
        False,
        True,
        False,
        True,
    ]
    assert tenure.horizon(7, "user") == (4, 0)
    assert (reason(tenure, OTHER, e6=5), reason(tenure, OTHER)) == ("owner-lost", "owner-lost")
    assert [each.epoch for each in past(8, "b2", tenure)] == [8, 7]
    tenure.end(300, oldest=20)
    assert (tenure.pasts, reason(tenure, OTHER, e7=5)) == ([], "owner-lost"), "nobody asks for that any more"


def test_stamps_are_understood_from_one_owner_to_the_next_and_back_to_the_first() -> None:
    """DPS-13: a topic that moved several times, also to one that had it before."""
    first, second, third = Tenure("b1", 7), Tenure("b2", 8), Tenure("b3", 9)
    for each in (first, second, third):
        each.begin(ONE, TWO)
    second.handed("b1", TWO, past(7, "b1", first, too_old=2), 3)
    second.end(10, oldest=0)
    for each in (first, second, third):
        each.begin(TWO, THREE)
    third.handed("b2", THREE, past(8, "b2", second), 3)
    third.end(20, oldest=0)
    assert third.descend(WANDERER, {7: 5}) == ({9: 20, 8: 10, 7: 5}, "")
    assert third.descend(WANDERER, {7: 5, 8: 12}) == ({9: 20, 8: 12}, "")
    assert third.horizon(7, "user") == (0, 2)
    for each in (first, second, third):
        each.begin(THREE, BACK)
    second.handed("b3", BACK, past(9, "b3", third), 30)
    second.end(30, oldest=0)
    assert second.descend(WANDERER, {7: 5}) == ({8: 10, 9: 20, 7: 5}, "")
    assert second.descend(WANDERER, {8: 11}) == ({8: 11, 9: 20}, "")
    assert second.descend(WANDERER, {8: 31, 9: 1}) == ({8: 31}, "")


def test_who_saw_other_views_is_not_believed_to_have_handed_over() -> None:
    """DPS-13: the former owner has given the topic to somebody else meanwhile, who may have published on it."""
    tenure, former = Tenure("b3", 9), Tenure("b1", 7)
    tenure.begin(ONE, THREE)
    former.begin(ONE, TWO)
    former.begin(TWO, THREE)
    tenure.handed("b1", THREE, past(7, "b1", former), 3)
    tenure.end(10, oldest=0)
    assert reason(tenure, WANDERER, e7=5) == "owner-lost"
    direct = next(topic for topic in TOPICS if TWO.ring.owner(topic) == "b1" and THREE.ring.owner(topic) == "b3")
    assert reason(tenure, direct, e7=5) == ""


def test_an_owner_that_never_went_on_with_a_topic_has_nothing_of_it() -> None:
    """DPS-13: it went on to the next one before its handover was over."""
    first, second, third = Tenure("b1", 7), Tenure("b2", 8), Tenure("b3", 9)
    for each in (first, second, third):
        each.begin(ONE, TWO)
        each.begin(TWO, THREE)
    second.handed("b1", THREE, past(7, "b1", first), 3)
    third.handed("b2", THREE, past(8, "b2", second, evicted=99), 3)
    third.end(20, oldest=0)
    assert third.descend(WANDERER, {7: 5, 8: 50}) == ({9: 20, 7: 5}, "")
    second.end(60, oldest=0)
    third.handed("b2", View(9, ("b1", "b3")), past(8, "b2", second), 21)
    assert third.descend(WANDERER, {7: 5, 8: 61}) == ({9: 20, 8: 61}, ""), "what it says later completes what it has said"


@pytest.mark.parametrize("order", ["b1 b2", "b2 b1"])
def test_what_a_broker_has_forgotten_was_over_though_it_was_not_when_it_told_another_one_of_it(order: str) -> None:
    """DPS-5, DPS-6: what its former owner had was looked for there, and was given again, or was taken for lost."""
    second, third = Tenure("b2", 8), Tenure("b3", 9)
    second.begin(ONE, TWO)
    second.handed("b1", TWO, past(7, "b1"), 3)
    heard = past(8, "b2", second)[:1]
    second.end(10, oldest=0)
    second.end(30, oldest=20)
    for each in (second, third):
        each.begin(TWO, THREE)
    told = {
        "b1": [replace(past(7, "b1")[0], changes=[TenureChange(ONE, TWO)]), *heard],
        "b2": past(8, "b2", second, too_old=20),
    }
    for slot in order.split():
        third.handed(slot, THREE, told[slot], 3)
    third.end(20, oldest=0)
    assert third.descend(WANDERER, {7: 5, 8: 25}) == ({9: 20, 8: 25}, "")
    assert third.descend(WANDERER, {8: 25}) == ({9: 20, 8: 25}, "")
    for stamps in ({7: 5, 8: 15}, {7: 5}):
        assert third.descend(WANDERER, stamps).begins[8] < third.horizon(8, "user")[1], "that is too old"


def orphaned() -> Tenure:
    """Returns the tenure of b2, which was the heir of b1 when that was gone, and owns all its topics since stamp 10."""
    tenure, out = Tenure("b2", 8, copied=frozenset({Kind.USER})), TenureChange(TWO, View(3, ("b2",)), 90)
    tenure.begin(TWO, View(3, ("b2",)))
    tenure.handed("b1", View(3, ("b2",)), [replace(past(7, "b1")[0], stream=70, changes=[out])], 3)
    tenure.end(10, oldest=0)
    return tenure


def test_of_an_owner_that_is_gone_the_copies_of_all_its_heirs_count() -> None:
    """DPS-5, DPS-18: each tells of its own. Where only the last one that told counted, what the other's copy had lost was not known."""
    alone = View(3, ("b2",))
    tenure, heir = Tenure("b1", 9, copied=frozenset({Kind.USER})), orphaned()
    tenure.begin(alone, BACK)
    heir.begin(alone, BACK)
    heir.handed("b1", alone, past(70, "b1"), 3)
    tenure.handed("b2", BACK, past(8, "b2", heir), 3)
    tenure.handed("b3", BACK, [*past(6, "b3"), replace(past(7, "b1")[0], stream=71)], 3)
    assert tenure.descend(MINE, {7: 5, 70: 4}).reason == MOVED
    tenure.end(10, oldest=0)
    assert tenure.descend(MINE, {7: 5, 70: 4}).reason == "owner-lost", "nothing is known of one of them"
    tenure.handed("b3", BACK, [*past(6, "b3"), *past(71, "b1")], 3)
    assert tenure.descend(MINE, {7: 5, 70: 4}) == ({9: 10, 8: 10, 7: 5, 70: 4, 71: 0}, "")
    assert sorted(each.stream for each in past(9, "b1", tenure) if each.epoch == 7) == [70, 71]


def test_somebody_may_come_back_whom_only_an_owner_knew_that_is_gone() -> None:
    """DPS-4, DPS-18: for topics that were its own, of kinds with copies, until nobody is served any more who was away then."""
    tenure = orphaned()
    assert [tenure.may_be_awaited(topic, lambda kind: 10) for topic in (MINE, OTHER, PLAYLIST)] == [True, False, False]
    assert not tenure.may_be_awaited(MINE, lambda kind: 11)
    tenure.end(30, oldest=11)
    assert not tenure.may_be_awaited(MINE, lambda kind: 0)


def test_who_hands_over_as_planned_says_who_is_gone_of_whom_the_next_owner_does_not_know_either() -> None:
    """DPS-4, DPS-18: and where nobody is gone, all that is followed is known. Who has no copy of one that is gone takes nothing back."""
    tenure = Tenure("b1", 9, copied=frozenset({Kind.USER}))
    tenure.begin(View(3, ("b2",)), BACK)
    tenure.handed("b2", BACK, past(8, "b2"), 3)
    tenure.end(10, oldest=0)
    assert not tenure.may_be_awaited(MINE, lambda kind: 0)
    tenure.handed("b2", BACK, past(8, "b2", orphaned()), 3)
    assert tenure.may_be_awaited(MINE, lambda kind: 0)
    tenure.handed("b3", BACK, past(7, "b1"), 4)
    assert tenure.may_be_awaited(MINE, lambda kind: 0)


def test_so_many_others_are_known() -> None:
    tenure = Tenure("b1", 7)
    for epoch in range(100, 100 + tenures.MOST_PASTS + 5):
        tenure.handed("b2", ONE, past(epoch, "b2"), 1)
    assert [each.epoch for each in tenure.pasts] == list(range(105, 105 + tenures.MOST_PASTS))
    tenure.handed("b2", ONE, [], 1)


History = list[tuple[int, int, bool]]


def lived(history: History) -> tuple[Tenure, int]:
    """Returns a tenure that has seen changes to shares of b2 and b3, some of which are over, and its newest stamp."""
    tenure, before, stamp = Tenure("b1", 7), TWO, 1
    for two, three, is_over in history:
        shares = {"b1": 64, "b2": two * 64, "b3": three * 64}
        after = View.of(before.number + 1, shares, shares)
        tenure.begin(before, after)
        stamp += 1
        if is_over:
            tenure.end(stamp, stamp - 2)
        before = after
    return tenure, stamp


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=8))
@settings(max_examples=40)
def test_a_key_that_has_not_moved_is_told_by_its_cell_and_nothing_else_changes(history: History) -> None:
    """DPS-13: as if all changes had been looked at."""
    tenure, stamp = lived(history)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tenures, "NOWHERE", b"\1" * CELLS)
        twin, _ = lived(history)
    for topic in TOPICS:
        assert tenure.has_moved(topic) == twin.has_moved(topic)
        assert [reason(tenure, topic, e7=each) for each in range(stamp + 1)] == [reason(twin, topic, e7=each) for each in range(stamp + 1)]


def test_however_many_steps_the_ring_took_a_key_that_has_not_moved_costs_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-5: many come back at once, and each asks for all their topics."""
    tenure, before = Tenure("b1", 7), TWO
    for number in range(32):
        shares = {"b1": 256, "b2": 256, "b3": 8 * number + 8}
        after = View.of(number + 3, shares, shares | {"b3": 256})
        tenure.begin(before, after)
        tenure.end(number + 1, 0)
        before = after
    stays = [topic for topic in TOPICS if before.ring.owner(topic) == "b1"]
    looks: list[int] = []
    owner_at = Ring.owner_at

    def looked(ring: Ring, hashed: int) -> str | None:
        looks.append(hashed)
        return owner_at(ring, hashed)

    monkeypatch.setattr(Ring, "owner_at", looked)
    assert not any(map(tenure.has_moved, stays))
    assert [reason(tenure, topic, e7=5) for topic in stays] == [""] * len(stays)
    assert len(looks) <= 8 * len(stays)
