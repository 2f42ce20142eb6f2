"""The page and the tables of a provisioning study."""

import msgspec
import pytest

from analytics.planning.report import provision_tables as tables
from analytics.planning.report.cheapest import short
from analytics.planning.report.provision_page import render
from analytics.planning.report.provision_plots import figures
from analytics.planning.report.provision_tables import Setting
from analytics.report.plot import Key
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


def test_the_cheapest_plans_are_told_with_their_way_and_those_that_cost_the_same_beside_each_other() -> None:
    assert short(provisioned()).rows[:4] == [
        ("3,600", "10", "c3.large", "improved", "100", "400", "-60.0 %", "1.250"),
        ("3,600", "10", "c3.xlarge", "improved", "100", "400", "-60.0 %", "1.250"),
        ("3,600", "10", "c3.2xlarge", "GSP+CBP (e)", "2", "400", "", ""),
        ("3,600", "100", "c3.large", "improved", "100", "400", "-60.0 %", "1.250"),
    ]


def test_the_page_has_the_figures_of_the_thesis_with_what_was_published(text: str) -> None:
    assert [figure.source for figure in figures(provisioned())] == ["7.4", "7.4", "7.6 to 7.9"]
    assert [figure.source for figure in figures(provisioned(profile="twitter"))][:2] == ["7.5", "7.5"]
    assert text.count('<svg class="plot"') == 2 * 3 + 2
    assert "published saving at 10" in text
    assert "(a) saves 33 %, 27.6 %, 10.9 % of RSP+FFBP at thresholds 10, 100, 1000; all steps at 10: 38 %" in text


def test_plots_of_the_same_lines_have_one_key_and_their_bounds_are_told_from_those_of_the_thesis() -> None:
    first = figures(provisioned())[0]
    assert first.html().count('<ul class="key">') == 1
    assert Key("best bound at 10", 0, "thin") in first.plots[0].keys
    assert [[key.label for key in plot.keys] for plot in figures(provisioned())[-1].plots] == [["RSP", "GSP"], ["FFBP", "CBP"]]


def test_of_other_traces_nothing_was_published() -> None:
    text = render(provisioned(profile=None))
    assert "published saving" not in text
    assert "In the thesis" not in text
    assert "<strong>Published" not in text


def test_of_other_machines_nothing_was_published() -> None:
    study = provisioned()
    plans = [msgspec.structs.replace(plan, machine=plan.machine.replace("c3", "c7gn")) for plan in study.plans]
    others = msgspec.structs.replace(study, plans=plans)
    assert tables.compared(others).rows == []
    assert [figure.source for figure in figures(others)] == ["", "", ""]
    assert "published saving" not in render(others)


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
