"""One device's knowledge of its user's notifications, against a model of the server and a network that misbehaves."""

from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from segue.sdk.client_options import ClientOptions
from segue.sdk.notification_messages import Marks, Notification, Pulled, ReadElsewhere
from segue.sdk.notifications import IDS_KEPT, RECOUNT_EVERY_S, Bell, NextPull
from tests.support.inbox_model import InboxModel

HELLO_PULL_S = ClientOptions().hello_pull_s
SEEN_EVERY_S = ClientOptions().seen_every_s


def live(item: dict[str, Any]) -> Notification:
    return msgspec.convert(item, Notification)


def hello(server: InboxModel, client: str = "desktop", limit: int = 50) -> Pulled:
    """Returns the answer of `server` to the pull of at most `limit` items that the access point makes at hello for `client`."""
    return msgspec.convert(server.pull(client, {"limit": limit}), Pulled)


def answer(server: InboxModel, pull: NextPull, client: str = "desktop") -> Pulled:
    asked = {"limit": pull.limit, "since": pull.since, "epoch": pull.epoch}
    return msgspec.convert(server.pull(client, {name: value for name, value in asked.items() if value is not None}), Pulled)


def pull_all(bell: Bell, server: InboxModel, now_s: float = 100.0) -> None:
    while pull := bell.pull_due(now_s):
        bell.pulled(answer(server, pull), pull)


def taken(bell: Bell) -> list[int]:
    marks = []
    while item := bell.take():
        marks.append(item.mark)
    return marks


def greeted(server: InboxModel, held: int | None = None, **options: Any) -> Bell:
    """Returns a device that has just been welcomed and has the answer to the pull at hello."""
    bell = Bell(ClientOptions(**options), held)
    bell.connected(0.0)
    bell.pulled(hello(server))
    return bell


def test_what_was_stored_while_the_device_was_away_comes_at_hello_in_order() -> None:
    """SB-48."""
    server = InboxModel()
    for _ in range(3):
        server.store()
    bell = greeted(server)
    assert (taken(bell), bell.held, bell.unread, bell.pull_due(0.0)) == ([1, 2, 3], 3, 3, None)


def test_a_lost_live_copy_is_pulled_as_soon_as_a_later_one_comes() -> None:
    """SB-69: e1 is lost, e2 comes live; both are shown, in order, and the mark waits for e1."""
    server = InboxModel()
    bell = greeted(server)
    server.store()
    bell.live(live(server.store()))
    assert (taken(bell), bell.held, bell.seen) == ([], 0, 0)
    pull = bell.pull_due(0.0)
    assert pull == NextPull(0, 50, server.epoch)
    bell.pulled(answer(server, pull), pull)
    assert (taken(bell), bell.held, bell.pull_due(0.0)) == ([1, 2], 2, None)


def test_a_lost_live_copy_with_nothing_after_it_comes_at_the_next_hello() -> None:
    """SB-69, also when the event that was lost carries an older time than one that was shown."""
    server = InboxModel()
    bell = greeted(server)
    bell.live(live(server.store()))
    server.store(ts=1)
    bell.lost()
    bell.connected(9.0)
    bell.pulled(hello(server))
    assert taken(bell) == [1, 2]


def test_an_answer_that_was_not_asked_for_shows_what_a_quiet_device_has_missed_and_nothing_again() -> None:
    """The access point pulls from the seen mark when the way of live copies was broken; the device may be further than that."""
    server = InboxModel()
    bell = greeted(server)
    bell.live(live(server.store()))
    assert taken(bell) == [1]
    server.store()
    bell.pulled(hello(server))
    assert (taken(bell), bell.held, bell.unread, bell.pull_due(0.0)) == ([2], 2, 2, None)
    bell.pulled(hello(server))
    assert (taken(bell), bell.held, bell.pull_due(0.0)) == ([], 2, None)


def test_what_came_live_and_comes_again_is_shown_once() -> None:
    """SB-50."""
    server = InboxModel()
    bell = greeted(server)
    item = live(server.store())
    bell.live(item)
    bell.live(item)
    bell.pulled(hello(server))
    bell.live(item)
    assert (taken(bell), bell.unread, bell.pull_due(0.0)) == ([1], 1, None)


@pytest.mark.parametrize("page", [1, 7, 50])
def test_a_thousand_items_of_one_millisecond_come_over_pulls_that_are_cut_off(page: int) -> None:
    """SB-49: after every page the connection breaks, and each second answer is lost."""
    server = InboxModel()
    for _ in range(1000):
        server.store()
    bell, shown, round_ = Bell(ClientOptions(inbox_items=100)), list[int](), 0
    while len(shown) < 1000:
        round_ += 1
        bell.connected(round_ * 100.0)
        if round_ % 2:
            bell.pulled(hello(server, limit=page))
        if (pull := bell.pull_due(round_ * 100.0 + HELLO_PULL_S)) and round_ % 3:
            bell.pulled(answer(server, pull), pull)
        shown += taken(bell)
        if mark := bell.seen_due(round_ * 100.0 + HELLO_PULL_S):
            server.seen("desktop", {"mark": mark})
        bell.lost()
    assert shown == list(range(1, 1001))


def test_the_seen_mark_is_what_was_taken_and_is_told_once_a_second() -> None:
    server = InboxModel()
    for _ in range(3):
        server.store()
    bell = greeted(server)
    assert bell.seen_due(1.0) is None
    bell.take()
    assert [bell.seen_due(1.0), bell.seen_due(9.0)] == [1, None]
    bell.take()
    bell.take()
    assert [bell.seen_due(9.0), bell.seen_due(9.0), bell.next_due_s()] == [3, None, None]
    bell.live(live(server.store()))
    bell.take()
    assert [bell.seen_due(9.0), bell.next_due_s(), bell.seen_due(9.0 + SEEN_EVERY_S)] == [None, 9.0 + SEEN_EVERY_S, 4]


def test_a_seen_mark_whose_answer_was_cut_off_is_told_again() -> None:
    server = InboxModel()
    server.store()
    bell = greeted(server)
    bell.take()
    assert bell.seen_due(1.0) == 1
    bell.lost()
    bell.connected(2.0)
    bell.pulled(hello(server))
    assert bell.seen_due(2.0) == 1


def test_by_hand_the_seen_mark_goes_where_the_application_says_but_never_past_what_it_took() -> None:
    server = InboxModel()
    for _ in range(3):
        server.store()
    bell = greeted(server, seen_by_hand=True)
    bell.take()
    bell.take()
    assert bell.seen_due(1.0) is None
    bell.see(1)
    assert bell.seen_due(1.0) == 1
    bell.see(99)
    assert bell.seen_due(2.0) == 2


def test_a_full_queue_leaves_the_rest_to_later_pulls() -> None:
    server = InboxModel()
    bell = greeted(server, inbox_items=4)
    for _ in range(9):
        bell.live(live(server.store()))
    assert (bell.held, bell.pull_due(0.0)) == (4, None)
    shown = []
    while item := bell.take():
        shown.append(item.mark)
        pull_all(bell, server)
    assert shown == list(range(1, 10))


def test_an_access_point_that_does_not_pull_at_hello_is_asked_after_a_while() -> None:
    server = InboxModel()
    server.store()
    bell = Bell(ClientOptions())
    bell.connected(1.0)
    assert (bell.pull_due(1.0), bell.next_due_s()) == (None, 1.0 + HELLO_PULL_S)
    pull = bell.pull_due(1.0 + HELLO_PULL_S)
    assert pull == NextPull(None, 50)
    bell.pulled(answer(server, pull), pull)
    assert (taken(bell), bell.pull_due(9.0)) == ([1], None)


def test_a_device_that_remembers_its_mark_goes_on_there_whatever_the_server_knows() -> None:
    server = InboxModel()
    for _ in range(9):
        server.store()
    bell = greeted(server, held=7)
    assert taken(bell) == [8, 9]
    server.seen("desktop", {"mark": 9})
    bell = greeted(server, held=7)
    pull_all(bell, server)
    assert taken(bell) == [8, 9]


def test_a_server_that_counts_anew_is_followed() -> None:
    server = InboxModel()
    for _ in range(9):
        server.store()
    bell = greeted(server)
    assert taken(bell) == list(range(1, 10))
    server.expire(9)
    bell.live(live(server.store()))
    pull_all(bell, server)
    assert (taken(bell), bell.held, bell.seen) == ([1], 1, 1)


def test_a_server_that_counts_anew_by_mistake_does_not_show_anything_again() -> None:
    server, forgetful = InboxModel(), InboxModel()
    for inbox in (server, forgetful):
        for _ in range(3):
            inbox.store()
    server.store()
    bell = greeted(server)
    assert taken(bell) == [1, 2, 3, 4]
    bell.lost()
    bell.connected(0.0)
    bell.pulled(hello(forgetful))
    pull_all(bell, forgetful)
    bell.lost()
    bell.connected(0.0)
    bell.pulled(hello(server))
    assert (taken(bell), bell.held) == ([], 4)


def met_again(bell: Bell, server: InboxModel) -> list[int]:
    """Returns what a device shows after it was away for a moment."""
    bell.lost()
    bell.connected(0.0)
    bell.pulled(hello(server))
    pull_all(bell, server)
    return taken(bell)


def test_a_device_that_meets_another_epoch_begins_again_and_shows_what_it_has_not_shown() -> None:
    """A store that was put back gives marks that were seen already to other items."""
    server = InboxModel()
    server.store()
    copy = server.backup()
    server.store()
    bell = greeted(server)
    assert taken(bell) == [1, 2]
    assert bell.seen_due(0.0) == 2
    server.put_back(copy)
    other = server.store(id="other")
    assert other["mark"] == 2
    assert met_again(bell, server) == [2]
    assert (bell.epoch, bell.held, bell.seen_due(9.0), bell.pull_due(9.0)) == (server.epoch, 2, 2, None)


@pytest.mark.parametrize("held", [0, 1, 2, 9])
def test_a_device_that_remembers_a_mark_of_another_epoch_goes_by_none_of_it(held: int) -> None:
    server = InboxModel()
    for _ in range(3):
        server.store()
    server.put_back(server.backup())
    server.seen_marks["desktop"] = 3
    bell = Bell(ClientOptions(), held, epoch=1)
    assert met_again(bell, server) == [1, 2, 3]
    bell = Bell(ClientOptions(), min(held, 3), epoch=None)  # the file of a version that knew no epochs
    assert met_again(bell, server) == [1, 2, 3][held:]


@pytest.mark.parametrize("says", ["item", "old item", "marks", "answer"])
def test_whatever_bears_another_epoch_leads_to_a_pull(says: str) -> None:
    server = InboxModel()
    for _ in range(3):
        server.store()
    bell = greeted(server)
    taken(bell)
    server.put_back(server.backup())
    if says == "marks":
        bell.read_elsewhere(msgspec.convert(server.read_elsewhere(), ReadElsewhere))
    elif says == "answer":
        bell.marked(msgspec.convert(server.seen("desktop", {"mark": 3, "epoch": 1}), Marks), bell.held)
    else:
        item = server.store() if says == "item" else server.items[0]
        bell.live(live(item), server.epoch)
    assert bell.held == 3
    pull_all(bell, server)
    assert (bell.epoch, bell.held, taken(bell)) == (server.epoch, server.last, [4] if says == "item" else [])


def test_a_mark_of_another_epoch_moves_nothing_at_the_server() -> None:
    server = InboxModel()
    copy = server.backup()
    server.store()
    bell = greeted(server)
    bell.take()
    mark, epoch = bell.seen_due(0.0), bell.epoch
    server.put_back(copy)
    server.store(id="other")
    server.seen("desktop", {"mark": mark, "epoch": epoch})
    assert greeted(server).take() is not None


def test_a_live_copy_that_overtakes_an_answer_leads_to_a_recount() -> None:
    server = InboxModel()
    bell = greeted(server)
    bell.failed(0.0)
    pull = bell.pull_due(0.0)
    assert pull is not None
    old = answer(server, pull)
    bell.live(live(server.store()))
    bell.pulled(old, pull)
    assert (bell.held, bell.unread, bell.pull_due(0.0)) == (1, 0, None)
    pull_all(bell, server, RECOUNT_EVERY_S)
    assert bell.unread == 1


def test_an_item_that_comes_while_a_seen_is_under_way_leads_to_a_recount() -> None:
    server = InboxModel()
    server.store()
    bell = greeted(server)
    bell.take()
    held, old = bell.held, server.seen("desktop", {"mark": 1})
    bell.live(live(server.store()))
    bell.marked(msgspec.convert(old, Marks), held)
    assert bell.unread == 1
    pull_all(bell, server)
    assert bell.unread == 2


def test_a_gap_that_shows_while_a_pull_is_under_way_is_pulled_after_it() -> None:
    server = InboxModel()
    bell = greeted(server)
    bell.failed(0.0)
    pull = bell.pull_due(0.0)
    assert pull is not None
    old = answer(server, pull)
    server.store()
    bell.live(live(server.store()))
    bell.pulled(old, pull)
    pull_all(bell, server)
    assert taken(bell) == [1, 2]


def test_what_was_read_elsewhere_is_not_unread_here_and_old_words_do_not_count() -> None:
    """SB-51."""
    server = InboxModel()
    for _ in range(3):
        server.store()
    bell, old = greeted(server), hello(server)
    server.read("phone", {"mark": 2})
    bell.read_elsewhere(msgspec.convert(server.read_elsewhere(), ReadElsewhere))
    bell.pulled(old)
    assert (bell.read, bell.unread) == (2, 1)
    bell.lost()
    bell.connected(0.0)
    bell.pulled(hello(server))
    assert (bell.read, bell.unread) == (2, 1)


def test_what_only_the_friend_feed_gets_is_never_unread() -> None:
    server = InboxModel()
    bell = greeted(server)
    bell.live(live(server.store(rings=False)))
    bell.live(live(server.store()))
    assert (taken(bell), bell.unread, server.unread()) == ([1, 2], 1, 1)


def test_the_ids_that_are_remembered_are_bounded() -> None:
    server = InboxModel()
    bell = greeted(server)
    for _ in range(IDS_KEPT + 10):
        bell.live(live(server.store()))
        bell.take()
    assert len(bell._ids) == IDS_KEPT


class Phone:
    """A device with a name of its own, its network, and what it has shown. `era` counts the times that counting began anew."""

    def __init__(self, name: str, held: int | None = None, epoch: int | None = None) -> None:
        self.name = name
        self.bell = Bell(ClientOptions(inbox_items=6), held, epoch)
        self.shown: list[str] = []
        self.era = 0
        self.is_connected = False
        self.pending: tuple[NextPull, Pulled] | None = None


class Notifications(RuleBasedStateMachine):
    """Several devices of one user. Live copies get lost, come twice and in any order; answers get lost; items expire.

    One thing is left out: a user whose items have all expired and who then gets as many new ones as a device had seen,
    before that device heard of it. Marks alone cannot tell that; `store` waits for the device.
    """

    def __init__(self) -> None:
        super().__init__()
        self.server = InboxModel()
        self.phones: list[Phone] = []
        self.era = 0
        self.now_s = 0.0
        self.copies: list[tuple[Phone, int, Notification | ReadElsewhere]] = []
        self.expired: set[str] = set()

    @initialize(count=st.integers(1, 3))
    def buy(self, count: int) -> None:
        self.phones = [Phone(f"phone-{number}") for number in range(count)]

    def _is_told_of_the_era(self) -> bool:
        return all(phone.era == self.era or phone.bell.held is None or phone.bell.held > self.server.last + 1 for phone in self.phones)

    @precondition(_is_told_of_the_era)
    @rule(rings=st.booleans())
    def store(self, rings: bool) -> None:
        item = live(self.server.store(rings=rings))
        self.copies += [(phone, self.era, item) for phone in self.phones if phone.is_connected]

    @rule(phone=st.integers(0, 2), mark=st.none() | st.integers(1, 9))
    def read(self, phone: int, mark: int | None) -> None:
        reader = self.phones[phone % len(self.phones)]
        if not reader.is_connected:
            return
        held = reader.bell.held
        marks = self.server.read(reader.name, {} if mark is None else {"mark": mark})
        reader.bell.marked(msgspec.convert(marks, Marks), held)
        self._tell_news()

    @rule(phone=st.integers(0, 2), mark=st.integers(1, 9), action=st.sampled_from(["read", "unread", "archive", "unarchive"]))
    def change(self, phone: int, mark: int, action: str) -> None:
        changer = self.phones[phone % len(self.phones)]
        if not changer.is_connected:
            return
        held = changer.bell.held
        marks = self.server.change(changer.name, {"action": action, "marks": [mark]})
        changer.bell.marked(msgspec.convert(marks, Marks), held)
        self._tell_news()

    def _tell_news(self) -> None:
        while self.server.news:
            told = msgspec.convert(self.server.news.pop(0), ReadElsewhere)
            self.copies += [(phone, self.era, told) for phone in self.phones if phone.is_connected]

    @precondition(lambda self: self.copies)
    @rule(index=st.integers(0, 50), fate=st.sampled_from(["arrive", "arrive", "twice", "lost"]))
    def deliver(self, index: int, fate: str) -> None:
        copy = self.copies[index % len(self.copies)]
        if fate != "twice":
            self.copies.remove(copy)
        phone, era, said = copy
        if fate == "lost" or not phone.is_connected or era != self.era:
            return
        if isinstance(said, Notification):
            phone.bell.live(said)
        else:
            phone.bell.read_elsewhere(said)

    @rule(phone=st.integers(0, 2), hears=st.booleans())
    def connect(self, phone: int, hears: bool) -> None:
        self._connect(self.phones[phone % len(self.phones)], hears)

    @rule(phone=st.integers(0, 2))
    def disconnect(self, phone: int) -> None:
        self._disconnect(self.phones[phone % len(self.phones)])

    @rule(phone=st.integers(0, 2))
    def restart(self, phone: int) -> None:
        index = phone % len(self.phones)
        old = self.phones[index]
        if old.era != self.era and (old.bell.seen or 0) <= self.server.last:
            return  # it would forget how far ahead of the server it was: the case that is left out
        self._disconnect(old)
        new = self.phones[index] = Phone(old.name, old.bell.seen, old.bell.epoch)  # as a MarkFile keeps it
        waiting = {item.id for item in old.bell._queue}
        new.shown, new.era = [shown for shown in old.shown if shown not in waiting], old.era

    @rule(phone=st.integers(0, 2), later_s=st.sampled_from([0.0, 0.5, 6.0]))
    def ask(self, phone: int, later_s: float) -> None:
        self.now_s += later_s
        asker = self.phones[phone % len(self.phones)]
        if asker.pending is None and (pull := asker.bell.pull_due(self.now_s)):
            asker.pending = (pull, answer(self.server, pull, asker.name))

    @rule(phone=st.integers(0, 2), fails=st.booleans())
    def hear(self, phone: int, fails: bool) -> None:
        hearer = self.phones[phone % len(self.phones)]
        if hearer.pending is None:
            return
        (pull, found), hearer.pending = hearer.pending, None
        if fails:
            hearer.bell.failed(self.now_s)
        else:
            self._pulled(hearer, found, pull)

    @rule(phone=st.integers(0, 2), count=st.integers(1, 6))
    def take(self, phone: int, count: int) -> None:
        taker = self.phones[phone % len(self.phones)]
        for _ in range(count):
            self._take(taker)

    @rule(phone=st.integers(0, 2))
    def tell_seen(self, phone: int) -> None:
        teller = self.phones[phone % len(self.phones)]
        if mark := teller.bell.seen_due(self.now_s):
            assert mark >= self.server.seen_marks.get(teller.name, 0)
            marks = self.server.seen(teller.name, {"mark": mark})
            teller.bell.marked(msgspec.convert(marks, Marks), teller.bell.held)

    @precondition(lambda self: self.server.items and all(phone.pending is None for phone in self.phones))
    @rule(share=st.sampled_from([0.3, 1.0]))
    def expire(self, share: float) -> None:
        count = max(1, int(len(self.server.items) * share))
        self.expired |= {item["id"] for item in self.server.items[:count]}
        self.server.expire(count)
        if not self.server.items:
            self.era += 1
            for phone in self.phones:
                phone.era += phone.bell.held in (None, 0) and phone.era == self.era - 1

    @invariant()
    def nothing_is_shown_twice(self) -> None:
        """Checks SB-50."""
        for phone in self.phones:
            assert len(set(phone.shown)) == len(phone.shown)

    @invariant()
    def no_mark_passes_a_gap(self) -> None:
        """Checks SB-47 and SB-69: a device has shown every stored item below its mark, or the item waits in its queue."""
        for phone in self.phones:
            if phone.era != self.era or phone.bell.held is None:
                continue
            have = {*phone.shown, *(item.id for item in phone.bell._queue)}
            seen = phone.bell.seen
            assert seen is not None
            assert seen <= phone.bell.held
            for item in self.server.items:
                assert item["mark"] > phone.bell.held or item["id"] in have
                assert item["mark"] > seen or item["id"] in phone.shown

    def teardown(self) -> None:
        """Heals the network: every device ends up with every item that is still there, in order, and with the same marks."""
        self.now_s += 1000.0
        for phone in self.phones:
            self._disconnect(phone)
            self._connect(phone, hears=True)
        for phone in self.phones:
            self._drain(phone)
            shown = [item for item in phone.shown if item not in self.expired]
            assert shown == [item["id"] for item in self.server.items]
            assert (phone.bell.held, phone.bell.read, phone.bell.unread) == (self.server.last, self.server.read_mark, self.server.unread())

    def _drain(self, phone: Phone) -> None:
        for _ in range(1000):
            self.now_s += 1.0
            while self._take(phone):
                pass
            if (pull := phone.bell.pull_due(self.now_s)) is None:
                return
            self._pulled(phone, answer(self.server, pull, phone.name), pull)
        raise AssertionError("it pulls for ever")

    def _take(self, phone: Phone) -> bool:
        item = phone.bell.take()
        if item is not None:
            phone.shown.append(item.id)
        return item is not None

    def _connect(self, phone: Phone, hears: bool) -> None:
        if phone.is_connected:
            return
        phone.is_connected = True
        phone.bell.connected(self.now_s)
        if hears:
            self._pulled(phone, hello(self.server, phone.name, limit=4), None)

    def _pulled(self, phone: Phone, found: Pulled, pull: NextPull | None) -> None:
        was_new = phone.bell.held is None
        phone.bell.pulled(found, pull)
        assert phone.bell.held is not None
        if was_new or phone.bell.held <= self.server.last:
            phone.era = self.era

    def _disconnect(self, phone: Phone) -> None:
        phone.is_connected = False
        phone.pending = None
        phone.bell.lost()


class PutBack(RuleBasedStateMachine):
    """One device that stays, and a store that is put back from copies. Live copies arrive, late or out of order, or get lost."""

    def __init__(self) -> None:
        super().__init__()
        self.server = InboxModel()
        self.copies: list[dict[str, Any]] = []
        self.on_their_way: list[dict[str, Any]] = []
        self.bell = greeted(self.server)
        self.shown: list[str] = []

    @rule()
    def store(self) -> None:
        self.on_their_way.append(self.server.store())

    @rule()
    def back_up(self) -> None:
        self.copies.append(self.server.backup())

    @precondition(lambda self: self.copies)
    @rule(index=st.integers(0, 9))
    def put_back(self, index: int) -> None:
        self.server.put_back(self.copies[index % len(self.copies)])

    @precondition(lambda self: self.on_their_way)
    @rule(index=st.integers(0, 9), arrives=st.booleans())
    def deliver(self, index: int, arrives: bool) -> None:
        item = self.on_their_way.pop(index % len(self.on_their_way))
        if arrives:
            self.bell.live(live(item), item["epoch"])

    @rule()
    def read(self) -> None:
        self.bell.marked(msgspec.convert(self.server.read("phone", {"epoch": self.server.epoch}), Marks), self.bell.held)

    @rule()
    def reconnect(self) -> None:
        self.bell.lost()
        self.bell.connected(0.0)
        self.bell.pulled(hello(self.server, limit=2))

    @rule()
    def ask(self) -> None:
        if pull := self.bell.pull_due(100.0):
            self.bell.pulled(answer(self.server, pull), pull)

    @rule()
    def take(self) -> None:
        if item := self.bell.take():
            self.shown.append(item.id)

    @rule()
    def tell_seen(self) -> None:
        if mark := self.bell.seen_due(100.0):
            told = self.server.seen("desktop", {"mark": mark, "epoch": self.bell.epoch})
            self.bell.marked(msgspec.convert(told, Marks), self.bell.held)

    @invariant()
    def nothing_is_shown_twice_and_no_seen_mark_hides_anything(self) -> None:
        assert len(set(self.shown)) == len(self.shown)
        seen = self.server.seen_marks.get("desktop", 0)
        assert {item["id"] for item in self.server.items if item["mark"] <= seen} <= set(self.shown)

    def teardown(self) -> None:
        """Checks that the device ends up with everything that is stored, in the epoch that holds."""
        self.reconnect()
        for _ in range(100):
            self.take()
            self.ask()
        assert {item["id"] for item in self.server.items} <= set(self.shown)
        bell, server = self.bell, self.server
        assert (bell.epoch, bell.held, bell.read, bell.unread) == (server.epoch, server.last, server.read_mark, server.unread())


PutBack.TestCase.settings = settings(max_examples=60, stateful_step_count=60)
TestPutBack = PutBack.TestCase
Notifications.TestCase.settings = settings(max_examples=60, stateful_step_count=60)
TestNotifications = Notifications.TestCase
