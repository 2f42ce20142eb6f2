"""The second opinion on the second act: what it expects, and that nothing wrong passes it."""

import ast
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from segue.demo import release_oracle
from segue.demo.release_oracle import DeviceKey, ReleaseLedger

ANN, BOB, PHONE, CAT = ("ann", "desktop"), ("bob", "desktop"), ("bob", "mobile"), ("cat", "desktop")
WRONG = ("lost", "shown_twice", "misrouted", "mails_to_awake", "mails_wrong", "pushes_wrong", "unread_wrong", "read_unheard")


def night(skip: str = "") -> ReleaseLedger:
    """Plays a night: ann is awake, bob and cat sleep; all three can be mailed and pushed. `skip` names one thing that does not happen."""
    ledger = ReleaseLedger(["ann", "bob", "cat"], ["ann", "bob", "cat"], ["ann", "bob", "cat"])
    ledger.there(ANN, 0.0)
    ledger.released("album", ["ann"], [], 1.0)

    def do(name: str, act: Callable[[], None]) -> None:
        if name != skip:
            act()

    do("live", lambda: ledger.shown(ANN, "album", 1.04))
    do("mail to bob", lambda: ledger.mailed("bob", "album"))
    ledger.mailed("cat", "album")
    do("push to bob", lambda: ledger.pushed("bob", "album"))
    ledger.pushed("cat", "album")
    for device in (BOB, PHONE, CAT):
        ledger.there(device, 2.0)
    for device in (BOB, PHONE):
        ledger.shown(device, "album", 2.1)
    do("pull", lambda: ledger.shown(CAT, "album", 2.1))
    ledger.read("bob")
    do("hear", lambda: ledger.heard(PHONE, 0))
    for device, unread in ((ANN, 1), (BOB, 0), (PHONE, 0), (CAT, 1)):
        ledger.told(device, unread)
    return ledger


def wrong(ledger: ReleaseLedger) -> dict[str, int]:
    """Returns what must be 0 and is not."""
    found = asdict(ledger.summary())
    return {name: found[name] for name in WRONG if found[name]}


def test_a_good_night_is_counted_way_by_way() -> None:
    summary = night().summary()
    assert (summary.followers, summary.awake, summary.asleep, summary.items, summary.rows) == (3, 1, 2, 1, 3)
    assert (summary.live, summary.pulled, summary.repaired, summary.shown) == (1, 3, 0, 4)
    assert (summary.mailed, summary.pushed, summary.read_elsewhere) == (2, 2, 1)
    assert summary.live_ms == pytest.approx((40.0, 40.0))
    assert summary.is_good


@pytest.mark.parametrize(
    ("skip", "found"),
    [("live", {"lost": 1}), ("pull", {"lost": 1}), ("mail to bob", {"mails_wrong": 1}), ("push to bob", {"pushes_wrong": 1})],
)
def test_what_is_missing_is_seen(skip: str, found: dict[str, int]) -> None:
    ledger = night(skip)
    assert wrong(ledger) == found
    assert not ledger.summary().is_good


@pytest.mark.parametrize(
    ("act", "found"),
    [
        (lambda ledger: ledger.shown(ANN, "album", 9.0), {"shown_twice": 1}),
        (lambda ledger: ledger.shown(("dan", "desktop"), "album", 9.0), {"misrouted": 1}),
        (lambda ledger: ledger.shown(ANN, "no album", 9.0), {"misrouted": 1}),
        (lambda ledger: ledger.mailed("ann", "album"), {"mails_to_awake": 1, "mails_wrong": 1}),
        (lambda ledger: ledger.mailed("bob", "album"), {"mails_wrong": 1}),
        (lambda ledger: ledger.mailed("dan", "album"), {"misrouted": 1, "mails_wrong": 1}),
        (lambda ledger: ledger.mailed("bob", ""), {"misrouted": 1, "mails_wrong": 1}),
        (lambda ledger: ledger.pushed("ann", "album"), {"pushes_wrong": 1}),
        (lambda ledger: ledger.told(PHONE, 1), {"unread_wrong": 1}),
        (lambda ledger: ledger.told(ANN, 0), {"unread_wrong": 1}),
        (lambda ledger: ledger.heard(PHONE, 1), {"read_unheard": 1}),
    ],
)
def test_what_must_not_be_is_seen(act: Callable[[ReleaseLedger], None], found: dict[str, int]) -> None:
    ledger = night()
    act(ledger)
    assert wrong(ledger) == found


def test_a_follower_who_never_came_back_has_lost_it() -> None:
    ledger = ReleaseLedger(["ann", "bob"], [], [])
    ledger.there(ANN, 0.0)
    ledger.released("album", ["ann"], [], 1.0)
    ledger.shown(ANN, "album", 1.1)
    ledger.told(ANN, 1)
    assert wrong(ledger) == {"lost": 1}


def test_a_device_that_was_robbed_must_find_everything_and_is_counted_apart() -> None:
    ledger = ReleaseLedger(["ann"], [], [])
    ledger.there(ANN, 0.0)
    for number, item in enumerate(("album", "single")):
        ledger.released(item, ["ann"], [], 1.0 + number)
        ledger.robbed(ANN)
    assert list(ledger.missing()) == [(*ANN, "album"), (*ANN, "single")]
    assert ledger.outstanding(ANN)
    for item in ("album", "single"):
        ledger.shown(ANN, item, 2.1)
    ledger.told(ANN, 2)
    assert not ledger.outstanding(ANN)
    assert (ledger.summary().repaired, ledger.summary().live, ledger.summary().live_ms) == (2, 0, None)
    assert ledger.summary().is_good


def test_what_a_device_shows_only_after_the_next_item_did_not_come_live() -> None:
    ledger = ReleaseLedger(["ann"], [], [])
    ledger.there(ANN, 0.0)
    for number, item in enumerate(("album", "single")):
        ledger.released(item, ["ann"], [], 1.0 + number)
    for item in ("album", "single"):
        ledger.shown(ANN, item, 2.5)
    assert (ledger.summary().repaired, ledger.summary().live) == (1, 1)


def test_a_phone_that_is_online_is_pushed_and_nobody_who_is_online_is_mailed() -> None:
    ledger = ReleaseLedger(["ann", "bob"], ["ann", "bob"], ["ann", "bob"])
    ledger.released("single", ["ann", "bob"], ["bob"], 1.0)
    assert ledger.mails_due() == set()
    assert ledger.pushes_due() == {("bob", "single")}
    assert not ledger.is_post_there()
    ledger.pushed("bob", "single")
    assert ledger.is_post_there()


def test_the_oracle_imports_nothing_of_the_engine() -> None:
    tree = ast.parse(Path(release_oracle.__file__ or "").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {"collections", "collections.abc", "dataclasses", "math"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]


def test_a_device_is_a_user_and_a_name() -> None:
    device: DeviceKey = ANN
    ledger: Any = night()
    assert ledger.unread_due(device[0]) == 1
