"""Price books and terms: the numbers of the source, one current book, and what cannot be meant is refused."""

from typing import Any

import pytest

from analytics.planning.errors import PlanError
from analytics.planning.provisioning.prices import books, check_room
from analytics.planning.provisioning.terms import Machine, Terms


def test_the_book_of_the_source_has_its_prices() -> None:
    """WA-42 (thesis 7.3.1): c3.large 0.15 $/h and 64 Mbit/s, c3.xlarge 0.30 $/h and 128 Mbit/s, 0.12 $/GB."""
    book = books()["ec2-2013"]
    assert book.machines == (Machine("c3.large", 0.15, 64), Machine("c3.xlarge", 0.30, 128))
    assert (book.usd_per_gb, book.terms("c3.large").message_bytes, book.terms("c3.large").capacity_s) == (0.12, 200, 3600)


def test_an_hour_of_a_machine_carries_28_gigabytes_and_ten_days_of_it_cost_36_dollars() -> None:
    """WA-42: both readings of the unit of BC (spec D5)."""
    thesis, literal = (books()["ec2-2013"].terms("c3.large", capacity_s=each) for each in (3_600, 864_000))
    assert (thesis.capacity, literal.capacity) == (144_000_000, 34_560_000_000)
    assert thesis.usd(2, 5_000_000) == pytest.approx(2 * 36 + 0.12)


def test_every_book_says_where_it_is_from_and_every_machine_can_be_rented() -> None:
    for book in books().values():
        assert "Amazon" in book.source
        assert all(book.terms(machine.name).capacity > 0 for machine in book.machines)


def test_an_unknown_machine_is_refused_with_those_there_are() -> None:
    with pytest.raises(PlanError, match=r"no machine 't2.nano' in the price book ec2-2013; it has c3.large, c3.xlarge"):
        books()["ec2-2013"].terms("t2.nano")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"message_bytes": 0}, "message_bytes is 0; it must be more than 0"),
        ({"hours": float("nan")}, "hours is nan"),
        ({"capacity_s": float("inf")}, "capacity_s is inf; it must be more than 0, and at most 2\\^60"),
        ({"capacity_s": 1e300}, "capacity_s is 1e\\+300; it must be more than 0, and at most 2\\^60"),
        ({"capacity_s": 1e18}, "m could carry more than 2\\^60 events; take a shorter capacity_s"),
        ({"message_bytes": 10**400}, "message_bytes is 1000"),
        ({"message_bytes": 1e-300}, "could carry more than 2\\^60 events"),
        ({"hours": 1e300}, "hours is 1e\\+300"),
        ({"usd_per_gb": 1e300}, "usd_per_gb is 1e\\+300; it must be 0 or more, and at most 2\\^60"),
        ({"machine": Machine("m", 1.0, 0.0)}, "mbit_per_s is 0.0"),
        ({"machine": Machine("m", -1.0, 1.0)}, "usd_per_hour is -1.0; it must be 0 or more, and at most"),
        ({"usd_per_gb": float("nan")}, "usd_per_gb is nan"),
    ],
)
def test_terms_that_cannot_be_meant_are_refused(settings: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"machine": Machine("m", 1.0, 1.0), "usd_per_gb": 0.1}
    with pytest.raises(PlanError, match=message):
        Terms(**(usual | settings))


def test_a_machine_too_small_for_the_loudest_topic_is_told_which_would_do() -> None:
    """Spec D1: a machine takes twice the loudest topic at least."""
    terms = books()["ec2-2013"].terms("c3.large")
    check_room(terms, 72_000_000)
    with pytest.raises(
        PlanError,
        match=r"c3.large can carry 144,000,000 events, and .* 128 Mbit/s or more "
        r"\(such as c3.xlarge \(--prices ec2-2013\), c7g.medium, .*, c7gn.large \(--prices ec2-2026\)\), or a longer",
    ):
        check_room(terms, 144_000_000)
    with pytest.raises(PlanError, match="which none in the price books has"):
        check_room(terms, 10**12)
