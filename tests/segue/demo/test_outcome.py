"""What a run came to: JSON, verdict, and the summary for people."""

import io
from typing import Any

import pytest
from rich.console import Console

from segue.demo.oracle import Latency, LedgerSummary
from segue.demo.outcome import DemoOutcome
from segue.demo.release_oracle import ReleaseSummary
from segue.demo.release_outcome import ReleaseOutcome
from segue.demo.summary import summary


def outcome(**changes: Any) -> DemoOutcome:
    """Returns a good outcome, but for `changes` of it or of the ledger's summary in it."""
    ledger: dict[str, Any] = {"events": 100, "expected": 1_900, "delivered": 1_900}
    ledger |= dict.fromkeys(("lost", "duplicated", "misrouted", "excused"), 0)
    ledger |= {"latency_ms": {"local": Latency(p50=1.23456, p99=9.0, max=150.0), "cross_site": Latency(p50=None, p99=None, max=None)}}
    rest: dict[str, Any] = {"seconds": 10.0, "rss_bytes": 170e6, "users": 60, "sites": 3, "seed": 5, "site_messages": 70, "reconnects": 0}
    rest |= {"refused": 0, "refusal": "", "behind_s": 0.0, "first_missing": None, "policy": "social"}
    found = {key: changes.pop(key, value) for key, value in ledger.items()}
    return DemoOutcome(summary=LedgerSummary(**found, cross_site_share=0.1), **(rest | changes))


def told(of: DemoOutcome) -> str:
    """Returns the summary as text."""
    file = io.StringIO()
    Console(file=file, width=100).print(summary(of))
    return file.getvalue()


def test_the_document_has_the_keys_of_the_issue_first() -> None:
    document = outcome().document()
    assert {key: document[key] for key in list(document)[:9]} == {
        "events": 100,
        "expected": 1_900,
        "delivered": 1_900,
        "lost": 0,
        "duplicated": 0,
        "latency_ms": {"local": {"p50": 1.235, "p99": 9.0, "max": 150.0}, "cross_site": {"p50": None, "p99": None, "max": None}},
        "cross_site_share": 0.1,
        "rss_mb": 170.0,
        "seconds": 10.0,
    }


def test_memory_that_the_platform_does_not_tell_is_null_and_not_nothing() -> None:
    assert outcome(rss_bytes=None).document()["rss_mb"] is None
    assert "memory                  -" in told(outcome(rss_bytes=None))


def test_a_good_run_says_so() -> None:
    text = told(outcome())
    assert outcome().is_good
    assert "✓ Every play reached every friend exactly once." in text
    assert "cross-site          10.0%  190 deliveries from 70 messages between sites" in text
    assert "local              1.2 ms    9.0 ms    150 ms" in text


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"lost": 3, "first_missing": ("17", "bob")}, "3 deliveries were lost, the first of them play 17 on its way to bob."),
        ({"duplicated": 2}, "2 deliveries came twice."),
        ({"misrouted": 1}, "1 events came to users who do not follow the one who played."),
        ({"refused": 4, "refusal": "unavailable: no broker"}, "4 plays were refused, the last because of: unavailable: no broker."),
    ],
)
def test_what_went_wrong_is_told_with_what_to_do(changes: dict[str, Any], problem: str) -> None:
    bad = outcome(**changes)
    assert not bad.is_good
    assert list(bad.problems()) == [problem]
    assert f"✗ {problem}" in told(bad)
    assert "report it with --seed 5" in " ".join(told(bad).split())
    assert "exactly once" not in told(bad)


def test_connections_that_broke_explain_a_loss_and_are_no_problem_without_one() -> None:
    assert list(outcome(reconnects=2).problems()) == []
    problems = list(outcome(reconnects=2, lost=1, first_missing=("1", "bob")).problems())
    assert problems[1].startswith("2 connections broke and came back")


def test_a_run_that_was_cut_short_is_good_and_says_how_to_slow_down() -> None:
    slow = outcome(behind_s=7.6)
    assert slow.is_good
    assert list(slow.hints()) == ["The cluster could not keep up and the plays of the last 8 s were left out: lower --speed or --rate."]


def released(**changes: Any) -> ReleaseOutcome:
    """Returns a good second act, but for `changes` of it or of the ledger's summary in it."""
    ledger: dict[str, Any] = {"followers": 611, "awake": 123, "asleep": 488, "items": 2, "rows": 1_222, "shown": 1_320, "live": 781}
    ledger |= {"pulled": 537, "repaired": 2, "mailed": 162, "pushed": 43, "read_elsewhere": 49, "live_ms": (40.0, 120.5)}
    ledger |= dict.fromkeys(("lost", "shown_twice", "misrouted", "mails_to_awake", "mails_wrong", "pushes_wrong"), 0)
    ledger |= dict.fromkeys(("unread_wrong", "read_unheard"), 0)
    rest: dict[str, Any] = {"artist": "Bj\x1bork", "store": "sqlite", "rows": 1_222, "seconds": 5.0, "first_missing": None}
    found = {key: changes.pop(key, value) for key, value in ledger.items()}
    rest["rows"] = changes.pop("written", 1_222)
    return ReleaseOutcome(summary=ReleaseSummary(**found), **(rest | changes))


def test_the_second_act_is_told_in_words_and_in_the_document() -> None:
    both = outcome(release=released())
    text = told(both)
    assert both.is_good
    for words in (
        "Stored   Bj\\u001bork releases an album while 488 of 611 followers sleep",
        "rows written        1,222  in SQLite, for 611 followers and 2 releases",
        "delivered live        781  p50 40.0 ms, p99 120 ms after the job began",
        "mailed awake            0  mails to people who were online",
        "✓ Every release reached every follower on every device exactly once, awake or asleep.",
        "Notifications are kept for 90 days. These 15 s did not put that to the test.",
    ):
        assert words in text
    document = both.document()["release"]
    assert (document["rows_written"], document["live"], document["live_ms"]) == (1_222, 781, {"p50": 40.0, "p99": 120.5})
    assert document["store"] == "sqlite"


def test_before_the_second_act_nothing_is_said_of_it() -> None:
    assert outcome().document()["release"] is None
    assert "Stored" not in told(outcome())


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"written": 1_200}, "1,200 rows were written, and 1,222 should have been."),
        (
            {"lost": 2, "first_missing": ("bob", "desktop", "album")},
            "2 notifications were lost, the first of them album on the desktop of bob.",
        ),
        ({"lost": 2}, "2 notifications were lost."),
        ({"shown_twice": 1}, "1 notifications were shown twice."),
        ({"misrouted": 1}, "1 notifications or mails went to somebody whom they do not concern."),
        ({"mails_to_awake": 3}, "3 mails went to people who were online."),
        ({"mails_wrong": 3}, "3 mails are missing, came twice, or should not have been sent."),
        ({"pushes_wrong": 3}, "3 pushes are missing, came twice, or should not have been sent."),
        ({"unread_wrong": 4}, "4 devices show a wrong number of unread notifications."),
        ({"read_unheard": 5}, "5 devices did not hear what their user has read on another one."),
    ],
)
def test_what_went_wrong_in_the_second_act_is_told(changes: dict[str, Any], problem: str) -> None:
    bad = outcome(release=released(**changes))
    assert not bad.is_good
    assert bad.is_first_good
    assert list(bad.problems()) == [problem]
    assert "awake or asleep" not in told(bad)
    assert "report it with --seed 5" in " ".join(told(bad).split())
