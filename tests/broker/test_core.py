"""What a broker decides: who gets an event, under which number, and what other sites must hear."""

import json
import random
from collections import Counter, defaultdict

import pytest

from broker.core import BrokerCore
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event, encode_tail, numbering
from infra.kernel.topics import Kind, Topic, format_topic, user_topic
from tests.support.assignments import assignment

DAN, EVE = user_topic("dan"), user_topic("eve")


class Receiver(list[tuple[int, dict[str, object]]]):
    """A link that keeps what was delivered: (handle, event)."""

    def deliver(self, handle: int, body: bytes) -> None:
        self.append((handle, json.loads(body)))


def event(topic: Topic = DAN, event_id: str = "") -> Event:
    return Event(topic, event_id.encode(), encode_tail(format_topic(topic), 1, event_id or "x", "play", b"{}"))


def seqs(receiver: Receiver) -> list[object]:
    return [body["seq"] for _, body in receiver]


def far_body(topic: Topic, seq: int) -> bytes:
    return b"%b%d,%b" % (numbering("lon", 9), seq, event(topic).tail)


def published(core: BrokerCore, topic: Topic, number: int) -> None:
    for n in range(number):
        core.publish(event(topic, f"{topic!r}-{n}"))


def test_the_first_event_of_a_topic_that_has_come_says_which_number_it_goes_on_from() -> None:
    """DPS-1: and no other one."""
    core, receiver = BrokerCore("sto", 8), Receiver()
    core.subscribe(core.open(receiver, False), [DAN, EVE], [0, 1])
    core.numbers.inherit(DAN, (7, 41))
    published(core, DAN, 2)
    published(core, EVE, 1)
    assert [(body["epoch"], body.get("after")) for _, body in receiver] == [(8, [7, 41]), (8, None), (8, None)]


def test_events_that_nobody_gets_between_two_owners_show_as_missing() -> None:
    """DPS-1: nobody follows the topic for a moment, or it is out of real time."""
    core, receiver = BrokerCore("sto", 8), Receiver()
    core.numbers.inherit(DAN, (7, 41))
    published(core, DAN, 2)
    core.subscribe(core.open(receiver, False), [DAN], [0])
    core.assign(assignment(1, DAN))
    before = core.numbers.last(DAN)
    core.publish(event(DAN, "out"))
    assert (before, core.numbers.last(DAN), receiver) == ((7, 43), (7, 44), [])
    core.assign(assignment(2, base=1, come=(DAN,)))
    core.publish(event(DAN, "in"))
    assert receiver[0][1]["after"] == [7, 44]


def test_topics_with_a_number_are_found_whether_the_window_has_events_of_them_or_not() -> None:
    """DPS-13: a topic of a kind without a window has one, too, and so has one whose events are too old."""
    core = BrokerCore("sto", 7, window=EventWindow(7, {Kind.USER: WindowBounds(seconds=2.0)}, 1 << 20))
    mix, zoe = Topic(b"Pann/mix"), user_topic("zoe")
    core.subscribe(core.open(Receiver(), False), [DAN, EVE, mix, zoe], range(4))
    published(core, DAN, 1)
    for now_s in (0.0, 1.0, 5.0):
        core.recorded.tick(now_s)
    published(core, EVE, 1)
    core.publish(event(mix))
    assert core.window is not None
    assert core.window.names() == {1: EVE}
    assert sorted(core.counted()) == sorted([DAN, EVE, mix])


def test_what_a_broker_knows_of_a_topic_goes_with_it_and_is_no_longer_its_own() -> None:
    """DPS-13, DPS-14: a topic that comes back later has been counted elsewhere, and must not go on as if it had not."""
    core, receiver = BrokerCore("sto", 7), Receiver()
    bit = core.open(receiver, False)
    core.subscribe(bit, [DAN, EVE], [0, 1])
    published(core, DAN, 3)
    published(core, EVE, 2)
    core.release(*core.unsubscribe(bit, [EVE])[1][0])
    assert (core.numbers.last(DAN), core.numbers.last(EVE), core.numbers.last(user_topic("zoe"))) == ((7, 3), (7, 5), None)
    assert {DAN, EVE} <= set(core.counted())
    assert set(core.known_ids()) == {(DAN, b"%r-%d" % (DAN, n)) for n in range(3)} | {(EVE, b"%r-%d" % (EVE, n)) for n in range(2)}
    for topic in (DAN, EVE):
        core.numbers.give_up(topic)
        assert core.numbers.last(topic) is None
    core.publish(event(DAN, "back"))
    assert receiver[-1][1]["seq"] == 6, "above every number that was given here"
    core.know(EVE, b"e-9")
    core.publish(event(EVE, "e-9"))
    assert core.duplicates == 1


def test_a_topic_that_comes_back_and_got_no_number_elsewhere_goes_on_where_it_was() -> None:
    core, receiver = BrokerCore("sto", 7), Receiver()
    core.subscribe(core.open(receiver, False), [DAN], [0])
    published(core, DAN, 3)
    core.numbers.give_up(DAN)
    core.numbers.inherit(DAN, (7, 4))  # one was passed over meanwhile
    core.publish(event(DAN, "back"))
    assert [(body["seq"], body.get("after")) for _, body in receiver][-1] == (5, None)


FAR = [(site, slot) for site in ("lon", "ash") for slot in ("b1", "b2", "b3")]


class Overlay:
    """A core with links that come and go, and a dumb model of what they want. `owners`: who owns every topic at each other site."""

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}
        self.core = BrokerCore("sto", 7, lambda site, topic: self.owners[site])
        self.links: dict[int, tuple[str, str]] = {}
        self.got: dict[int, Receiver] = {}
        self.wants: dict[int, dict[Topic, int]] = {}

    def open(self, peer: tuple[str, str]) -> None:
        receiver = Receiver()
        bit = self.core.open(receiver, peer[0] != "sto", peer)
        self.links[bit], self.got[bit], self.wants[bit] = peer, receiver, {}

    def close(self, bit: int) -> None:
        self.free(self.core.close(bit)[1])
        del self.links[bit], self.got[bit], self.wants[bit]

    def free(self, dead: list[tuple[int, Topic]]) -> None:
        for row, topic in dead:
            self.core.release(row, topic)

    def delivered(self) -> dict[int, list[int]]:
        """Returns the handles under which each link got an event, for those that got any; then it is forgotten."""
        found = {bit: [handle for handle, _ in receiver] for bit, receiver in self.got.items() if receiver}
        for receiver in self.got.values():
            receiver.clear()
        return found

    def choices(self, topic: Topic) -> list[set[int]]:
        """Returns sets of links, of each of which exactly one gets an event.

        That is every aggregator, and of the brokers of a site the owner if it wants it.
        """
        wanting = {bit: self.links[bit] for bit, mine in self.wants.items() if topic in mine}
        near = [{bit} for bit, (site, _) in wanting.items() if site == "sto"]
        far = [{bit: slot for bit, (at, slot) in wanting.items() if at == site} for site in ("lon", "ash")]
        owners = [
            {bit for bit, slot in links.items() if slot == self.owners[site]} for site, links in zip(("lon", "ash"), far, strict=True)
        ]
        return near + [owner or set(links) for owner, links in zip(owners, far, strict=True) if links]


def test_an_event_goes_once_to_each_aggregator_and_site_that_wants_its_topic_under_that_links_handle() -> None:
    """SB-18, SB-24: against a dumb model, with links that come, go and change their minds."""
    rng, overlay = random.Random(18), Overlay()
    core, topics = overlay.core, [user_topic(f"u{n}") for n in range(20)]
    seen: Counter[str] = Counter()
    for turn in range(6000):
        bit = rng.choice(list(overlay.links)) if overlay.links else None
        chosen = rng.sample(topics, 5)
        match rng.choice(("open", "close", *["subscribe"] * 3, "unsubscribe", *["publish"] * 3)):
            case "open":
                peer = rng.choice([*FAR, ("sto", f"a{turn}")])
                if len(overlay.links) < 10 and peer not in overlay.links.values():
                    overlay.open(peer)
            case "close" if bit is not None:
                overlay.close(bit)
            case "subscribe" if bit is not None:
                handles = [rng.randrange(1000) for _ in chosen]
                core.subscribe(bit, chosen, handles)
                overlay.wants[bit].update(zip(chosen, handles, strict=True))
            case "unsubscribe" if bit is not None:
                overlay.free(core.unsubscribe(bit, chosen)[1])
                overlay.wants[bit] = {topic: handle for topic, handle in overlay.wants[bit].items() if topic not in chosen}
            case "publish":
                overlay.owners.update({site: rng.choice(("b1", "b2", "b3")) for site in ("lon", "ash")})
                core.publish(event(chosen[0]))
                got, choices = overlay.delivered(), overlay.choices(chosen[0])
                assert [len(choice & got.keys()) for choice in choices] == [1] * len(choices)
                assert got == {bit: [overlay.wants[bit][chosen[0]]] for choice in choices for bit in choice & got.keys()}
                seen.update("far" if overlay.links[bit][0] != "sto" else "near" for bit in got)
                seen["choice"] += any(len(choice) > 1 for choice in choices)
    assert min(seen["near"], seen["far"], seen["choice"]) > 40


def test_of_several_brokers_of_a_site_that_want_a_topic_one_gets_a_copy_the_owner_if_it_can() -> None:
    """SB-24: while a topic moves at the other site, two of its brokers want it; one copy crosses the link all the same."""
    owners = {"lon": "b2", "ash": "b1"}
    core = BrokerCore("sto", 7, lambda site, topic: owners[site])
    here, old, new, ash = Receiver(), Receiver(), Receiver(), Receiver()
    bits = {
        "here": core.open(here, False, ("sto", "a1")),
        "old": core.open(old, True, ("lon", "b1")),
        "new": core.open(new, True, ("lon", "b2")),
        "ash": core.open(ash, True, ("ash", "b1")),
    }

    def copies() -> tuple[int, ...]:
        core.publish(event())
        counts = tuple(map(len, (here, old, new, ash)))
        for receiver in (here, old, new, ash):
            receiver.clear()
        return counts

    for name in ("here", "old", "ash"):
        core.subscribe(bits[name], [DAN], [1])
    assert copies() == (1, 1, 0, 1)
    core.subscribe(bits["new"], [DAN], [1])
    assert copies() == (1, 0, 1, 1)
    owners["lon"] = "b3"  # which has not announced itself: some other one then
    assert copies() in ((1, 0, 1, 1), (1, 1, 0, 1))
    core.unsubscribe(bits["old"], [DAN])
    assert copies() == (1, 0, 1, 1)
    core.close(bits["new"])
    assert copies() == (1, 0, 0, 1)
    assert core.site_copies == 2 + 2 + 2 + 2 + 1


def test_numbers_of_a_topic_rise_by_one_whatever_else_is_published() -> None:
    core, receiver = BrokerCore("sto", 7), Receiver()
    core.subscribe(core.open(receiver, far=False), [DAN, EVE], [1, 2])
    for topic in (DAN, EVE, EVE, DAN, user_topic("nobody"), DAN):
        core.publish(event(topic))
    by_topic: dict[object, list[object]] = defaultdict(list)
    for _, body in receiver:
        by_topic[body["topic"]].append(body["seq"])
        assert (body["site"], body["epoch"]) == ("sto", 7)
    assert [[n - found[0] for n in found] for found in by_topic.values()] == [[0, 1, 2], [0, 1]]  # type: ignore[operator]


@pytest.mark.parametrize("released", [False, True])
def test_what_nobody_wanted_for_a_moment_uses_its_number_up(released: bool) -> None:
    """Who comes back sees a gap of exactly the events that it missed."""
    core, receiver = BrokerCore("sto", 7), Receiver()
    bit = core.open(receiver, far=False)
    core.subscribe(bit, [DAN], [1])
    core.publish(event())
    _, dead = core.unsubscribe(bit, [DAN])
    if released:
        for row, topic in dead:
            core.release(row, topic)
    core.publish(event())
    core.publish(event())
    core.subscribe(bit, [DAN], [1])
    core.publish(event())
    first, second = seqs(receiver)
    assert (second - first, core.unmatched) == (3, 2)  # type: ignore[operator]


def test_an_event_from_another_site_goes_to_local_aggregators_only_and_unchanged() -> None:
    """SB-25: never over another site link, whoever wants it there."""
    core, here, far = BrokerCore("sto", 7), Receiver(), Receiver()
    near_bit, far_bit = core.open(here, False), core.open(far, True, ("ash", "b1"))
    ((row, topic),) = core.subscribe(near_bit, [DAN], [5])
    core.subscribe(far_bit, [DAN], [6])
    body = b'{"site":"lon","seq":3}'
    core.relay([row, row + 1, 999], [body, body, body])
    assert (here, far, topic) == ([(5, {"site": "lon", "seq": 3})], [], DAN)
    assert (core.site_events, core.stale) == (3, 2)


def test_other_sites_hear_of_a_topic_with_its_first_local_follower_and_of_its_last_ones_leaving() -> None:
    """SB-23, SB-28: and never because a third site wants it."""
    core = BrokerCore("sto", 7)
    one, two, far = core.open(Receiver(), False), core.open(Receiver(), False), core.open(Receiver(), True, ("lon", "b1"))
    assert core.subscribe(far, [DAN], [1]) == []
    assert list(core.wanted_here()) == []
    ((row, topic),) = core.subscribe(one, [DAN], [1])
    assert (topic, list(core.wanted_here())) == (DAN, [(row, DAN)])
    assert core.subscribe(two, [DAN, EVE], [1, 2]) == [(row + 1, EVE)]
    assert core.unsubscribe(one, [DAN, EVE]) == ([], [])
    assert core.close(two) == ([(row, DAN), (row + 1, EVE)], [(row + 1, EVE)])
    assert core.unsubscribe(far, [DAN]) == ([], [(row, DAN)])


def test_an_id_is_published_once_per_topic() -> None:
    core, receiver = BrokerCore("sto", 7), Receiver()
    core.subscribe(core.open(receiver, far=False), [DAN, EVE], [1, 2])
    for topic, event_id in ((DAN, "a"), (DAN, "a"), (EVE, "a"), (DAN, "b"), (DAN, ""), (DAN, "")):
        core.publish(event(topic, event_id))
    assert Counter(handle for handle, _ in receiver) == {1: 4, 2: 1}
    assert core.duplicates == 1


def test_what_does_not_pass_reaches_nobody_and_uses_its_number_up() -> None:
    """SB-64: no link of this site and no other site; who comes back sees a gap of exactly what was held back."""
    recorded: list[Event] = []
    core, here, lon = BrokerCore("sto", 7, record=recorded.append), Receiver(), Receiver()
    core.subscribe(core.open(here, False), [DAN, EVE], [1, 2])
    core.subscribe(core.open(lon, True, ("lon", "b1")), [DAN], [1])
    core.publish(event())
    core.assign(assignment(1, DAN))
    for _ in range(3):
        core.publish(event())
    core.publish(event(EVE))
    core.assign(assignment(2, base=1, come=(DAN,)))
    core.publish(event())
    (first, last), (_, second) = [body["seq"] for handle, body in here if handle == 1], seqs(lon)
    assert last == second == first + 4  # type: ignore[operator]
    assert [handle for handle, _ in here] == [1, 2, 1]
    assert (core.matched, core.offloaded, core.site_copies, len(recorded)) == (6, 3, 2, 6)


def test_what_nobody_wants_is_not_offloaded_but_unmatched() -> None:
    core = BrokerCore("sto", 7)
    core.assign(assignment(1, DAN))
    core.publish(event())
    assert (core.unmatched, core.offloaded) == (1, 0)
