"""The live figures of a run."""

from segue.demo.figures import LATE_S, Meter
from segue.demo.listening import Play
from segue.demo.oracle import Latency, Ledger

START_S = 100.0


def ledger() -> Ledger:
    return Ledger({"ann": ("bob", "cyd")}, {"ann": "sto", "bob": "sto", "cyd": "lon"})


def test_counts_rates_and_latencies_are_those_of_the_moment() -> None:
    book = ledger()
    meter = Meter(book, START_S)
    book.sent("1", "ann", 100.1)
    book.received("bob", "1", 100.102)
    book.received("cyd", "1", 100.104)
    figures = meter.sample(100.5, [(Play(0.1, "ann", 7, "Björk", 3), 2)])
    assert (figures.elapsed_s, figures.events, figures.delivered, figures.lost) == (0.5, 1, 2, 0)
    assert (figures.events_per_s, figures.deliveries_per_s, figures.history) == (2.0, 4.0, (4.0,))
    assert round(figures.latency_ms["local"].p50 or 0, 2) == 2.0
    assert round(figures.latency_ms["cross_site"].p99 or 0, 2) == 4.0
    assert figures.recent == ((Play(0.1, "ann", 7, "Björk", 3), 2),)


def test_rates_are_over_the_last_samples_only() -> None:
    book = ledger()
    meter = Meter(book, START_S)
    book.sent("1", "ann", START_S)
    book.received("bob", "1", START_S)
    rates = [meter.sample(START_S + n).deliveries_per_s for n in range(1, 9)]
    assert rates[0] == 1.0
    assert rates[-1] == 0.0


def test_a_delivery_is_lost_once_it_is_late_and_not_lost_if_it_comes_after_all() -> None:
    book = ledger()
    meter = Meter(book, START_S)
    book.sent("1", "ann", START_S)
    book.received("bob", "1", START_S)
    assert meter.sample(START_S + LATE_S).lost == 0
    assert meter.sample(START_S + LATE_S + 0.1).lost == 1
    book.received("cyd", "1", START_S + 3)
    assert meter.sample(START_S + 3).lost == 0


def test_where_nothing_arrived_there_is_no_latency() -> None:
    figures = Meter(ledger(), START_S).sample(START_S)
    assert figures.latency_ms["local"] == Latency(p50=None, p99=None, max=None)
    assert (figures.events_per_s, figures.deliveries_per_s) == (0.0, 0.0)
