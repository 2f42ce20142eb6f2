"""The page and the tables of a provisioning study."""

import msgspec
import pytest

from analytics.planning.report import provision_tables as tables
from analytics.planning.report.provision_page import render
from analytics.planning.report.provision_plots import figures
from analytics.planning.report.provision_tables import Setting
from tests.analytics.report.test_page import Reader
from tests.support.plans import provisioned


@pytest.fixture(scope="module")
def text() -> str:
    """The page with everything."""
    return render(provisioned())


def test_every_bill_is_told_with_both_bounds_and_what_it_saves() -> None:
    """WA-45."""
    found = tables.bills(provisioned(), Setting("c3.large", 3600.0))
    assert len(found.rows) == 2 * 7
    assert dict(zip(found.head, found.rows[1], strict=True)) == {
        "threshold": "10",
        "way": "GSP+FFBP (a)",
        "machines": "100",
        "in, GB": "1.0",
        "out, GB": "3.0",
        "USD": "900",
        "change": "-10.0 %",
        "bound": "300",
        "ratio": "3.000",
        "best bound": "320",
        "ratio to it": "2.813",
        "seconds": "0.70",
    }


def test_both_capacities_are_told_the_second_without_single_steps() -> None:
    """WA-42."""
    assert [row[1] for row in tables.bills(provisioned(), Setting("c3.large", 864_000.0)).rows] == [
        "RSP+FFBP",
        "GSP+CBP (e)",
        "improved",
    ] * 2


def test_published_savings_stand_beside_ours() -> None:
    found = tables.compared(provisioned())
    assert found.rows[:2] == [
        ("c3.large", "10", "GSP+FFBP (a)", "-33.0 %", "-10.0 %"),
        ("c3.large", "10", "GSP+CBP (e)", "-38.0 %", "-50.0 %"),
    ]
    assert len(found.notes) == 1
    assert "large steps" in tables.compared(provisioned(machines=3)).notes[1]
    assert tables.compared(provisioned(profile=None)).rows == []
    assert tables.compared(provisioned(baseline=False)).rows == []


def test_the_cheapest_machine_comes_first_and_those_that_are_too_small_last() -> None:
    assert [row[2:] for row in tables.offers(provisioned()).rows] == [
        ("c3.2xlarge", "2", "400"),
        ("c3.xlarge", "1", "500"),
        ("c3.large", "too small", ""),
    ]
    assert tables.answers(provisioned()) == ["With a capacity of 3,600 s, threshold 10 is cheapest on c3.2xlarge: 2 machines and 400 USD."]


def test_the_best_plan_is_said_in_words_with_how_far_it_is_from_the_least_possible() -> None:
    assert tables.best(provisioned())[0] == (
        "c3.large, capacity of 3,600 s, threshold 10: 100 machines and 400 USD by improved, 60.0 % less than RSP+FFBP; "
        "at most 1.250 times the least possible."
    )


def test_the_page_has_the_figures_of_the_thesis_with_what_was_published(text: str) -> None:
    assert [figure.source for figure in figures(provisioned())] == ["7.4", "7.4", "7.6 to 7.9"]
    assert [figure.source for figure in figures(provisioned(profile="twitter"))][:2] == ["7.5", "7.5"]
    assert text.count('<svg class="plot"') == 2 * 3 + 2
    assert "published saving at 10" in text
    assert "(a) saves 33.0%, 27.6%, 10.9% of RSP+FFBP at thresholds 10, 100, 1000" in text


def test_of_other_traces_nothing_was_published() -> None:
    assert "published saving" not in render(provisioned(profile=None))


def test_without_first_fit_there_is_nothing_to_save_against() -> None:
    text = render(provisioned(baseline=False))
    assert "less than RSP+FFBP" not in text
    assert "published saving" not in text


def test_the_page_needs_nothing_but_itself(text: str) -> None:
    page = Reader(text)
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert "http" not in text
    assert len(page.ids) == len(set(page.ids))
    assert all(link[1:] in page.ids for link in page.links)


def test_a_study_can_be_read_back_from_its_numbers() -> None:
    assert msgspec.json.decode(msgspec.json.encode(provisioned()), type=type(provisioned())) == provisioned()
