"""The decisions of the rule worker, without anything around them."""

import random
from collections import Counter
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from notification.core import DESKTOP, MOBILE, UNKNOWN, Decider, Patience, Plan
from notification.notice import Notice
from notification.store import AGAIN, FRIEND, SENT, Decision, LogRow, Person
from rule_engine.load import default_text, load

RULES = load(default_text(), "the default rules")
NOW_MS = 1_800_000_000_000
TOPICS = {
    "artist": "hm://notifications/feed/bjork%new-album/",
    "social": "hm://notifications/feed/ann%friend-joined/",
    "playlist": "hm://playlist/user/dan/playlist/p1/",
}
NUMBERS = count(1)
Known = dict[tuple[str, str], Decision]


def notice(kind: str = "artist", number: int = 1) -> Notice:
    return Notice(f"e{number}", kind, TOPICS[kind], "news", "bjork", b"{}", NOW_MS, "d")


def plan(rows: list[LogRow], notices: list[Notice], people: dict[str, Person], online: dict[str, int], known: Known) -> Plan:
    users = {row.user for row in rows}
    everybody = {user: people.setdefault(user, Person(user)) for user in users}
    where = {user: online.get(user, 0) for user in users}
    return Decider(RULES, Patience(), lambda: 7).plan(rows, {each.id: each for each in notices}, everybody, where, known, NOW_MS)


def row(user: str, event: str = "e1", flags: int = 0) -> LogRow:
    return LogRow(0, next(NUMBERS), event, user, flags)


def test_marks_have_no_gap_and_items_of_the_bell_are_counted() -> None:
    """Spec 7.3: the counter of each follower; a friend's line on a phone is no item of the bell."""
    people: dict[str, Person] = {}
    notices = [notice("playlist", n) for n in range(6)]
    rows = [row("ann", each.id, FRIEND * (n % 2)) for n, each in enumerate(notices)]
    decided = plan(rows, notices, people, {"ann": MOBILE}, {}).decided
    assert [(decision.mark, "in-client" in decision.types) for decision, _ in decided] == [(n + 1, n % 2 == 0) for n in range(6)]
    assert [decision.shown for decision, _ in decided] == [1, 1, 2, 2, 3, 3]
    assert (people["ann"].last, people["ann"].shown) == (6, 3)


def test_what_was_decided_is_told_again_and_not_decided_again() -> None:
    """SB-39, SB-62: a row that is read twice has one item; its live copy goes out again under the same id and mark."""
    people: dict[str, Person] = {}
    first = plan([row("ann")], [notice()], people, {"ann": DESKTOP}, {})
    known = {(decision.user, decision.event): decision for decision, _ in first.decided}
    again = plan([row("ann", flags=AGAIN)], [notice()], people, {"ann": DESKTOP}, known)
    assert again.decided == []
    assert again.live == first.live
    assert people["ann"].last == 1


def test_the_same_follower_twice_in_one_batch_is_told_once() -> None:
    first = plan([row("ann"), row("ann", flags=AGAIN)], [notice()], {}, {"ann": DESKTOP}, {})
    assert (len(first.decided), len(first.live)) == (1, 1)


def test_what_the_engine_has_sent_already_reaches_the_bell_at_once() -> None:
    """SB-31: the friend of the owner has the event live on its topic; the item goes to the inbox, under the same id, with its mark."""
    plans = [plan([row("ann", flags=flags)], [notice("playlist")], {}, {"ann": DESKTOP}, {}) for flags in (FRIEND | SENT, FRIEND)]
    assert plans[0].live == plans[1].live
    assert [(event.topic, event.id) for event in plans[0].live] == [(b"Iann", b"e1")]
    assert plans[0].decided[0][0].mark == 1


def test_what_the_engine_has_sent_already_goes_to_no_bell_that_does_not_want_it_or_is_away() -> None:
    opted_out = {"ann": Person("ann", preferences=b'{"channels":{"playlist":{"in-client":false}}}')}
    assert plan([row("ann", flags=FRIEND | SENT)], [notice("playlist")], opted_out, {"ann": DESKTOP}, {}).live == []
    assert plan([row("ann", flags=FRIEND | SENT)], [notice("playlist")], {}, {"ann": 0}, {}).live == []


def test_where_nobody_knows_who_is_online_a_copy_goes_live_and_the_rest_is_decided_when_it_is_due() -> None:
    people = {"ann": Person("ann", preferences=b'{"email":"ann@example.org"}')}
    unknown = plan([row("ann")], [notice()], people, {"ann": UNKNOWN}, {})
    assert len(unknown.live) == 1
    assert [task.channel for task in unknown.tasks] == ["email"]


def test_who_muted_everything_has_a_record_and_no_mark() -> None:
    """It says why: "why did I not get this"."""
    people = {"ann": Person("ann", preferences=b'{"muted":["artist:bjork"]}')}
    muted = plan([row("ann")], [notice()], people, {"ann": DESKTOP}, {})
    ((decision, _),) = muted.decided
    assert (decision.mark, decision.types, muted.live, muted.tasks) == (0, (), [], [])
    assert any(reason.endswith(":muted") for reason in decision.reasons)
    assert people["ann"].last == 0


def test_a_notice_that_has_expired_is_passed_over() -> None:
    assert plan([row("ann", "gone")], [], {}, {}, {}) == Plan([], [], [])


def test_the_types_of_an_item_are_those_that_the_rules_chose() -> None:
    """SB-44: over all ways to be online, with and without devices and addresses."""
    rng = random.Random(5)
    for _ in range(2000):
        user = Person("ann", has_devices=rng.random() < 0.5, preferences=rng.choice([b"", b'{"email":"ann@example.org"}']))
        online, flags, kind = rng.randrange(4), rng.choice([0, FRIEND, FRIEND | SENT]), rng.choice(list(TOPICS))
        if kind != "playlist":
            flags = 0
        verdict = Decider(RULES, Patience(), lambda: 7).verdict(notice(kind), user, flags, online, NOW_MS)
        decided = plan([row("ann", flags=flags)], [notice(kind)], {"ann": user}, {"ann": online}, {})
        chosen = {"in-client": verdict.in_client, "push": verdict.push != "no", "email": verdict.email != "no"}
        ((decision, _),) = decided.decided
        assert set(decision.types) == {name for name, is_chosen in chosen.items() if is_chosen}
        assert {task.channel for task in decided.tasks} == set(decision.types) - {"in-client"}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.sampled_from([0, AGAIN])), max_size=30), st.integers(1, 7))
def test_however_rows_are_repeated_and_cut_into_batches_each_is_decided_once(script: list[tuple[str, int, int]], size: int) -> None:
    """SB-39: every (event, follower) has one decision, marks are 1, 2, 3 ... for each follower."""
    people: dict[str, Person] = {}
    known: Known = {}
    marks: dict[str, list[int]] = {}
    notices = [notice(number=n) for n in range(5)]
    rows = [row(user, f"e{event}", flags) for user, event, flags in script]
    for start in range(0, len(rows), size):
        for decision, _ in plan(rows[start : start + size], notices, people, {}, dict(known)).decided:
            known[decision.user, decision.event] = decision
            marks.setdefault(decision.user, []).append(decision.mark)
    assert set(known) == {(each.user, each.event) for each in rows}
    assert marks == {user: list(range(1, number + 1)) for user, number in Counter(user for user, _ in known).items()}
