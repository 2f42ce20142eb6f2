"""The ledger of the benchmarks finds every delivery that should not be, and every one that is missing."""

from hypothesis import given
from hypothesis import strategies as st

from bench.delivery_ledger import Audit, DeliveryLedger
from bench.stamp import PAYLOAD_BYTES, find, payload, read

FOLLOWS = [frozenset({0, 1}), frozenset({1}), frozenset({1, 2})]
FANOUT = [1, 3, 1]
NOBODYS = 3
START_US = 10**12


def stamps(*numbers: int) -> list[bytes]:
    text = b"".join(payload(START_US, number) for number in numbers)
    return find(text, 0, len(text))


def publish(*topics: int) -> DeliveryLedger:
    """Returns a ledger with one publication on each of `topics`."""
    ledger = DeliveryLedger([*FANOUT, 0])
    for topic in topics:
        ledger.publish(topic)
    return ledger


def deliver(ledger: DeliveryLedger, client: int, *numbers: int) -> None:
    ledger.settle([(client, START_US + 5, stamps(*numbers))])


@given(st.integers(0, 10**16 - 1), st.integers(0, 10**10 - 1))
def test_a_payload_has_its_size_and_tells_its_number_and_time(at_us: int, number: int) -> None:
    text = payload(at_us, number)
    assert len(text) == PAYLOAD_BYTES
    assert [read(stamp) for stamp in find(text, 0, len(text))] == [(at_us, number)]


def test_a_run_in_which_everything_arrives_is_clean() -> None:
    ledger = publish(0, 1, 2, NOBODYS)
    assert (ledger.published, ledger.in_flight) == (4, 3)  # nobody waits for what nobody follows
    deliver(ledger, 0, 0, 1)
    deliver(ledger, 1, 1)
    deliver(ledger, 2, 1, 2)
    assert (ledger.delivered, ledger.in_flight) == (5, 0)
    assert ledger.audit(FOLLOWS) == Audit(expected=5, lost=0, duplicated=0, misrouted=0)


def test_a_delivery_that_is_missing_is_lost_and_keeps_its_publication_in_flight() -> None:
    ledger = publish(1)
    deliver(ledger, 0, 0)
    deliver(ledger, 2, 0)
    assert ledger.in_flight == 1
    assert ledger.audit(FOLLOWS).lost == 1
    ledger.forgive()
    assert ledger.in_flight == 0


def test_a_second_delivery_to_one_client_does_not_hide_that_another_got_none() -> None:
    ledger = publish(1)
    deliver(ledger, 0, 0, 0)
    deliver(ledger, 1, 0)
    assert ledger.in_flight == 0  # counting alone would be satisfied
    assert ledger.audit(FOLLOWS) == Audit(expected=3, lost=1, duplicated=1, misrouted=0)


def test_a_delivery_to_somebody_who_does_not_follow_or_of_something_never_published_is_misrouted() -> None:
    ledger = publish(0)
    deliver(ledger, 0, 0)
    deliver(ledger, 1, 0)
    deliver(ledger, 2, 77)
    assert ledger.audit(FOLLOWS) == Audit(expected=1, lost=0, duplicated=0, misrouted=2)


def test_what_another_generator_published_is_matched_by_its_numbers() -> None:
    ledger = DeliveryLedger(FANOUT)
    for client in range(3):
        deliver(ledger, client, 41)
    deliver(ledger, 0, 40)
    assert ledger.audit(FOLLOWS, {41: 1, 52: 1}) == Audit(expected=6, lost=3, duplicated=0, misrouted=1)


def test_latencies_are_kept_only_while_it_measures() -> None:
    ledger = publish(0, 0, 0)
    deliver(ledger, 0, 0)
    ledger.measuring = True
    deliver(ledger, 0, 1)
    ledger.sampling = True
    deliver(ledger, 0, 2)
    assert (list(ledger.latencies_us), list(ledger.due_us)) == ([5, 5], [START_US])
