"""What an aggregator waits for before it tells of a loss, and when it says again up to where nothing is missing."""

import asyncio

import pytest

from aggregator.points import CAUGHT_UP_BEATS
from infra.kernel.frames import Heartbeat, Inherited, Keeps, Lost, Sealed, Subscribe, View
from infra.kernel.topics import Topic
from tests.support.fenced_site import BACK, BOTH, LEFT, LISTS, OF_B2, FencedSite, RestartedSite


@pytest.mark.parametrize(("slots", "told"), [(("b1",), [[b"Uann"]]), (("b1", "b2"), [])])
async def test_nobody_waits_for_heirs_where_there_is_no_other_broker(slots: tuple[str, ...], told: list[list[bytes]]) -> None:
    """DPS-8: a broker was there again before it was missed, and its followers heard of `owner-lost` two seconds too late."""
    site = FencedSite(*slots)
    site.points.keep(Keeps({"user": ("latest", 4.0)}, ["user"]))
    site.points.losses.broker_up("b1", 1)
    site.points.losses.follow_ring()
    assert site.brokers.announcer.ring.owner(Topic(b"Uann")) == "b1"
    site.point.frames([Subscribe(1, [0], [b"Uann"])])
    site.points.losses.broker_down("b1")
    site.points.losses.broker_up("b1", 2)
    site.answer("b1")
    site.points.losses.follow_ring()
    await asyncio.sleep(0)  # the next turn, in which it is told
    assert [frame.topics for frame in site.wire.sent if isinstance(frame, Lost)] == told


@pytest.mark.parametrize("has_everything", [True, False])
async def test_what_an_heir_says_of_a_broker_counts_also_where_that_is_back_already(has_everything: bool) -> None:
    """DPS-5, DPS-8, DPS-18: those who follow hear of a loss where there is one, and nowhere else."""
    site = RestartedSite()
    site.restart()
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK))
    site.hear("b2", Sealed(BACK), Heartbeat(BACK, {9: 1}))
    assert site.points.losses.wait_for_heirs
    # What has gone to the new process since is no loss either.
    site.hear("b2", Heartbeat(View(4, ("b1", "b2"), (256, 128), (256, 256))))
    site.hear("b1", Inherited("b2", ["playlist"], ends={7: 5}) if has_everything else Inherited("b2", []))
    assert not site.points.losses.wait_for_heirs
    assert await site.lost() == (set() if has_everything else {topic for topic in LISTS if BOTH.ring.owner(topic) == "b2"})


@pytest.mark.parametrize("hung", [True, False])
async def test_what_an_heir_has_said_of_one_loss_says_nothing_of_the_next(hung: bool) -> None:
    """DPS-8: also where the first was none, since the broker only hung."""
    site = RestartedSite()
    if not hung:
        site.restart()
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK), Inherited("b2", ["playlist"]))
    site.hear("b2", Sealed(BACK), Heartbeat(BACK, {9: 1}))
    whole = View(4, ("b1", "b2"))
    for slot in ("b1", "b2"):
        site.hear(slot, Sealed(whole), Heartbeat(whole, {10: 1}))
    site.lose("b2")
    site.links["b2"] = site.link_up("b2", process=3)
    assert site.points.losses.wait_for_heirs, "nobody has said anything of this loss"
    site.hear("b1", Heartbeat(View(5, ("b1",))), Inherited("b2", []))
    assert not site.points.losses.wait_for_heirs
    assert await site.lost() == {topic for topic in LISTS if BOTH.ring.owner(topic) == "b2"}


@pytest.mark.parametrize("has_everything", [True, False])
@pytest.mark.parametrize("order", ["link", "view"])
async def test_heirs_are_asked_also_where_both_views_are_heard_in_one(has_everything: bool, order: str) -> None:
    """DPS-5, DPS-8, DPS-18: the one without the broker, and the one with its new process. All of it was told as lost."""
    site = RestartedSite()
    if order == "link":
        site.restart()
        site.hear("b1", Heartbeat(BACK))
    else:
        site.lose("b2")
        site.hear("b1", Heartbeat(BACK))
        site.links["b2"] = site.link_up("b2", process=2)
    assert site.points.losses.wait_for_heirs
    site.hear("b1", Inherited("b2", ["playlist"], ends={7: 5}) if has_everything else Inherited("b2", []))
    for _ in range(2 * CAUGHT_UP_BEATS):
        site.points.tick()
    assert await site.lost() == (set() if has_everything else OF_B2)


async def test_who_finds_late_that_a_link_was_half_open_hears_of_all_that_its_broker_had() -> None:
    """DPS-8: its new process had a part of the ring by then. Only what was of that part was told."""
    site = RestartedSite()
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK), Heartbeat(View(4, ("b1", "b2"), (256, 32), (256, 256))))
    site.restart()
    site.hear("b1", Inherited("b2", []))
    assert await site.lost() == OF_B2


async def test_who_finds_late_that_a_link_was_half_open_hears_of_all_that_its_broker_had_before_a_step() -> None:
    """DPS-8: nobody had missed the former process, and its slot had a smaller part of the ring by then."""
    site = RestartedSite()
    site.hear("b1", Heartbeat(View(4, ("b1", "b2"), (256, 32), (256, 0))))
    site.restart()
    site.answer("b2")
    for _ in range(2 * CAUGHT_UP_BEATS):
        site.points.tick()
    assert await site.lost() == OF_B2


@pytest.mark.parametrize("breaks", [False, True])
async def test_what_a_process_publishes_before_it_knows_who_follows_is_told_with_what_the_one_before_it_had(breaks: bool) -> None:
    """DPS-8: `owner-lost` was told when it was linked. What it published behind that, and before it was told of topics, came to nobody."""
    site = RestartedSite()
    site.points.keep(Keeps({"playlist": ("all", 60)}))
    stamps = site.point.link.stamps
    assert stamps is not None
    site.restart()
    site.hear("b2", Heartbeat(BOTH, {9: 1}))
    assert (await site.lost(), stamps()) == (set(), {})
    if breaks:
        site.lose("b2")
    else:
        site.answer("b2")
    site.points.tick()
    assert await site.lost() == OF_B2


@pytest.mark.parametrize(("epoch", "lost"), [(7, set()), (9, OF_B2)])
async def test_an_heir_that_has_a_later_process_alone_has_nothing_of_the_one_before_it(epoch: int, lost: set[Topic]) -> None:
    """DPS-8, DPS-18: it was started again, too. It had all of what had come to nobody there, and so nothing was told."""
    site = RestartedSite()
    site.restart()
    site.hear("b2", Heartbeat(BOTH, {9: 1}))
    site.hear("b1", Heartbeat(LEFT), Inherited("b2", ["playlist"], ends={epoch: 1}))
    assert not site.points.losses.wait_for_heirs
    assert await site.lost() == lost


async def test_an_heir_of_two_processes_that_has_the_first_one_has_all() -> None:
    """DPS-8, DPS-18: it takes nothing of the second one, which so accepts nothing."""
    site = RestartedSite()
    site.restart()
    site.hear("b2", Heartbeat(BOTH, {9: 1}))
    site.lose("b2")
    site.links["b2"] = site.link_up("b2", process=3)
    site.hear("b2", Heartbeat(BOTH, {11: 1}))
    site.hear("b1", Heartbeat(LEFT), Inherited("b2", ["playlist"], ends={7: 5}))
    assert not site.points.losses.wait_for_heirs
    assert await site.lost() == set()


@pytest.mark.parametrize("answers", ["before", "behind"])
async def test_what_an_heir_was_asked_over_a_half_open_link_is_of_the_process_behind_that(answers: str) -> None:
    """DPS-8, DPS-18: nothing is told where it has everything, though nobody goes by what that process had said any more."""
    site = RestartedSite()
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK))
    answer = Inherited("b2", ["playlist"], ends={7: 5})
    if answers == "before":
        site.hear("b1", answer)
    site.restart()
    if answers == "behind":
        site.hear("b1", answer)
    site.points.tick()
    assert not site.points.losses.wait_for_heirs
    assert await site.lost() == set()


async def test_who_hung_and_is_back_has_lost_what_it_has_now_when_it_dies() -> None:
    """DPS-8: and nothing of what others own since then."""
    site, grown = RestartedSite(), View(4, ("b1", "b2"), (256, 32), (256, 256))
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK), Inherited("b2", ["playlist"]), Heartbeat(grown))
    site.hear("b2", Sealed(grown), Heartbeat(grown, {7: 9}))
    site.restart()
    site.hear("b1", Heartbeat(View(5, ("b1",))), Inherited("b2", []))
    assert await site.lost() == {topic for topic in LISTS if grown.ring.owner(topic) == "b2"} != OF_B2


async def test_what_moved_while_its_owner_was_not_linked_is_told_when_the_owner_has_answered() -> None:
    """DPS-5, DPS-8: what comes behind that is not missing."""
    site, little = RestartedSite(), View(4, ("b1", "b2"), (256, 32), (256, 256))
    site.lose("b2")
    site.hear("b1", Heartbeat(little))
    site.links["b2"] = site.link_up("b2")
    assert await site.lost() == set()
    site.answer("b1")
    site.answer("b2")
    site.points.tick()
    assert await site.lost() == OF_B2 - {topic for topic in LISTS if little.ring.owner(topic) == "b2"} != set()


@pytest.mark.parametrize("has_everything", [True, False])
async def test_no_stamps_are_said_while_a_loss_is_untold(has_everything: bool) -> None:
    """DPS-8: whoever went on at another aggregator with those of the next process would hear there that nothing is missing."""
    site = RestartedSite()
    site.hear("b1", Heartbeat(BOTH, {5: 1}))
    stamps = site.point.link.stamps
    assert stamps is not None
    assert stamps() == {5: 1, 7: 5}
    site.restart()
    site.hear("b2", Heartbeat(BOTH, {9: 1}))
    site.hear("b1", Heartbeat(LEFT))
    assert stamps() == {}
    site.hear("b1", Inherited("b2", ["playlist"], ends={7: 5}) if has_everything else Inherited("b2", []))
    assert stamps() == {}
    assert await site.lost() == (set() if has_everything else OF_B2)
    await asyncio.sleep(0)  # the turn in which nothing is left to be told
    assert stamps().items() >= {5: 1, 9: 1}.items()


async def test_no_stamps_are_said_while_it_is_untold_what_moved_unseen() -> None:
    """DPS-8: neither by the owner whose link is back, nor by others."""
    site, little = RestartedSite(), View(4, ("b1", "b2"), (256, 32), (256, 256))
    site.hear("b1", Heartbeat(BOTH, {5: 1}))
    site.lose("b2")
    site.hear("b1", Heartbeat(little))
    site.links["b2"] = site.link_up("b2")
    site.hear("b2", Heartbeat(little, {7: 6}))
    stamps = site.point.link.stamps
    assert stamps is not None
    assert stamps() == {}
    site.answer("b1")
    site.answer("b2")
    site.points.tick()
    assert stamps() == {}
    assert await site.lost() != set()
    await asyncio.sleep(0)
    assert stamps() == {5: 1, 7: 6}


async def test_a_second_loss_of_a_broker_does_not_hide_the_first() -> None:
    """DPS-8: its heirs had not answered yet when it was gone again, with the little that it had by then."""
    site, grown = RestartedSite(), View(4, ("b1", "b2"), (256, 32), (256, 256))
    site.restart()
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK), Heartbeat(grown))
    site.hear("b2", Sealed(grown), Heartbeat(grown, {9: 1}))
    site.lose("b2")
    site.links["b2"] = site.link_up("b2", process=3)
    assert site.points.losses.wait_for_heirs
    site.hear("b1", Heartbeat(View(5, ("b1",))))
    site.hear("b1", Inherited("b2", []))
    for _ in range(2 * CAUGHT_UP_BEATS):
        site.points.tick()
    assert await site.lost() == OF_B2


async def test_what_had_come_to_a_broker_is_told_too_where_it_is_left_out_before_its_link_is_found_to_be_broken() -> None:
    """DPS-8: a link was cut, a step gave the broker topics, and it died. Nobody was told of what it had accepted on these."""
    site, grown = RestartedSite(), View(2, ("b1", "b2"), (32, 256))
    site.hear("b2", Sealed(BOTH))
    come = {topic for topic in LISTS if grown.ring.owner(topic) == "b2"} - OF_B2
    site.hear("b1", Sealed(grown))
    site.hear("b1", Sealed(View(3, ("b1",))))
    site.lose("b2")
    site.hear("b1", Inherited("b2", []))
    site.answer("b1")
    site.points.tick()
    assert await site.lost() == OF_B2 | come > OF_B2


async def test_nobody_waits_for_heirs_of_a_broker_that_left_as_planned_while_its_link_was_broken() -> None:
    """DPS-8: none is asked. Clients that went away within two seconds were never told."""
    site = RestartedSite()
    site.lose("b2")
    site.hear("b1", Sealed(View(2, ("b1", "b2"), (256, 128), (256, 0))), Sealed(View(3, ("b1",))))
    assert not site.points.losses.wait_for_heirs
    assert await site.lost() == OF_B2
