"""Up to where a client has got everything of each broker."""

from broker.taken_stamps import FORMER_BEATS, MOST_FORMER, TakenStamps


class Era:
    """The stamps of a node, and the number of its era; None while that changes."""

    def __init__(self) -> None:
        self.now: int | None = 1
        self.stamps = TakenStamps(lambda: self.now)

    def says(self, slot: str, **stamps: int) -> None:
        """Has a broker say stamps of `e7` and the like, and takes what came with them."""
        self.stamps.say(slot, {int(name[1:]): stamp for name, stamp in stamps.items()})
        self.stamps.take(slot)


def test_what_a_broker_says_holds_when_all_that_came_with_it_has_been_taken() -> None:
    """DPS-10: and of a site when all of its brokers have said something. A stamp never falls."""
    era = Era()
    era.stamps.say("b1", {7: 5})
    era.says("b2", e8=2)
    assert era.stamps.all_of(["b1", "b2"]) == {}
    era.stamps.take("b1")
    assert era.stamps.all_of(["b1", "b2"]) == {7: 5, 8: 2}
    era.says("b1", e7=4)
    assert era.stamps.all_of(["b1"]) == {7: 5, 8: 2}
    era.stamps.forget("b2")
    assert (era.stamps.all_of(["b1"]), era.stamps.all_of(["b2"])) == ({7: 5, 8: 2}, {})


def test_nothing_is_said_while_nobody_knows_who_the_brokers_are() -> None:
    """DPS-10: a broker says stamps before the site has a view."""
    era = Era()
    era.says("b1", e7=1)
    assert era.stamps.all_of([]) == {}
    assert era.stamps.all_of(["b1"]) == {7: 1}


def test_what_nobody_says_any_more_counts_for_some_heartbeats_and_of_so_much_only() -> None:
    """DPS-11, DPS-18: access points remember it by then. It does not become untrue, also where it is said again."""
    era = Era()
    era.says("b1", e7=5, e70=3)
    era.says("b2", e8=2)
    era.says("b1", e7=6, e71=1)
    era.stamps.forget("b2")
    for _ in range(FORMER_BEATS):
        era.stamps.tick()
        assert era.stamps.all_of(["b1"]) == {7: 6, 71: 1, 70: 3, 8: 2}
    era.says("b2", e8=1, e80=1)
    assert era.stamps.all_of(["b1"]) == {7: 6, 71: 1, 8: 2, 80: 1, 70: 3}
    era.stamps.tick()
    assert era.stamps.all_of(["b1"]) == {7: 6, 71: 1, 8: 1, 80: 1}
    for stream in range(100, 300):
        era.says("b1", **{"e7": 6, f"e{stream}": 1})
    assert len(era.stamps.all_of(["b1"])) == 4 + MOST_FORMER
    assert 298 in era.stamps.all_of(["b1"])


def test_what_an_heir_has_given_counts_when_it_has_been_taken_and_not_where_its_link_is_lost_before() -> None:
    """DPS-18: and what a lost broker said of it counts no more."""
    era = Era()
    era.says("b1", e7=5, e70=3)
    era.says("b1", e7=5, e71=1)
    era.stamps.inherit("b1", {70: 4, 71: 2, 72: 1}, "b2")
    assert era.stamps.all_of(["b1"]) == {7: 5, 71: 1, 70: 3}
    era.stamps.link_up("b2", may_resume=True)
    era.says("b2", e8=2)
    assert era.stamps.all_of(["b1"]) == {7: 5, 71: 1, 8: 2, 70: 3}
    era.stamps.inherit("b1", {70: 4, 71: 2, 72: 1}, "b2")
    era.stamps.take("b2")
    assert era.stamps.all_of(["b1"]) == {7: 5, 71: 2, 8: 2, 70: 4, 72: 1}
    assert era.stamps.of_lost("b1") == {7: 5, 71: 2, 70: 4}


def test_a_link_that_comes_back_goes_on_in_the_era_in_which_it_broke_and_in_no_other() -> None:
    """DPS-10: in another one somebody else may have got what was for us."""
    era = Era()
    era.says("b1", e7=5)
    era.stamps.say("b1", {7: 6})
    era.stamps.link_down("b1")
    assert era.stamps.link_up("b1", may_resume=True) == {7: 5}, "what had not been taken is lost with its link"
    for now in (2, None):
        era.says("b1", e7=5)
        era.stamps.link_down("b1")
        era.now = now
        assert era.stamps.link_up("b1", may_resume=True) is None
        assert era.stamps.all_of([]) == {}


def test_of_a_lost_broker_all_counts_that_has_come_also_what_it_said_in_former_lives() -> None:
    """DPS-18: its heirs know it by the streams that it had then. They are so many, and not more."""
    era = Era()
    era.says("b1", e7=5, e70=3)
    era.says("b1", e7=6, e71=1)
    era.stamps.say("b1", {7: 8, 71: 2})
    assert era.stamps.of_lost("b1") == {7: 8, 70: 3, 71: 2}
    assert era.stamps.of_lost("b2") == {}
    for stream in range(100, 200):
        era.stamps.say("b1", {7: 8, stream: 1})
        era.stamps.take("b1")
    assert len(era.stamps.of_lost("b1")) == MOST_FORMER + 2
    era.now = 2
    assert era.stamps.of_lost("b1") == {}, "meanwhile another broker may have had its topics"
