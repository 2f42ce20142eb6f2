"""All overlays under the same conditions: the same events, churn and harm, and tables and plots of what came of them."""

import numpy as np
import pytest

from overlay.report import comparison
from overlay.report.comparison import ComparedSystem, Conditions, compare
from overlay.simulator.systems import SYSTEMS
from tests.support.even_workload import even_workload

WORKLOAD = even_workload(nodes=80, topics=20, each=4, seed=1)
CONDITIONS = Conditions(seed=2, settle=20, events=20, churn_cycles=4, harm_cycles=3)


@pytest.fixture(scope="module")
def compared() -> dict[str, ComparedSystem]:
    """Every system on a small workload."""
    return {name: compare(name, WORKLOAD, CONDITIONS, lambda _: None) for name in SYSTEMS}


def test_each_system_shows_what_it_is_known_for(compared: dict[str, ComparedSystem]) -> None:
    """OV-4, in small."""
    polder, scribe, quasar = (compared[name] for name in ("poldercast", "scribe", "quasar"))
    assert polder.peace == scribe.peace == 1
    assert quasar.peace > 0.9
    assert polder.unwanted_share == 0 < scribe.unwanted_share < quasar.unwanted_share
    assert quasar.copies > polder.copies
    assert quasar.most_degree <= 10
    for each in compared.values():
        assert each.hops > 1
        assert each.control_bytes_s > 0
        # Those who pass nothing on, and those who are dead, cost deliveries, where many copies do not make up for them.
        assert each.freeriders < each.peace or each.system == "gossipsub"
        assert each.deaths < each.peace or each.system == "gossipsub"
        assert 0.5 < each.churn <= 1
        assert each.at_ms("planetlab", 50) <= each.at_ms("planetlab", 99)
        assert min(each.arrivals_ms["seattle"]) > 0


def test_the_same_seed_compares_the_same_and_another_one_others(compared: dict[str, ComparedSystem]) -> None:
    """OV-2."""
    assert compare("scribe", WORKLOAD, CONDITIONS, lambda _: None) == compared["scribe"]
    other = Conditions(seed=3, settle=20, events=20, churn_cycles=4, harm_cycles=3)
    assert compare("scribe", WORKLOAD, other, lambda _: None) != compared["scribe"]


def test_conditions_are_the_same_for_all_and_depend_on_the_seed_alone() -> None:
    """OV-4: the same churn, and the same dead."""
    one, same = comparison.churned(80, CONDITIONS), comparison.churned(80, CONDITIONS)
    assert [each.tolist() for each in one.coming] == [each.tolist() for each in same.coming]
    assert len(one) == 4
    still = comparison.quiet(80, 3)
    assert still.present(2).tolist() == list(range(80))
    dying = comparison.dying(still, 80, 2)
    assert len(dying.leaving[1]) == 24
    assert dying.present(2).tolist() == np.setdiff1d(np.arange(80), dying.leaving[1]).tolist()


def test_tables_have_a_row_for_each_system_and_plots_a_line(compared: dict[str, ComparedSystem]) -> None:
    made = comparison.tables(list(compared.values()))
    assert [each.name for each in made] == ["costs", "hit-ratios", "arrivals"]
    for table in made:
        assert {len(row) for row in table.rows} == {len(table.head)}
    assert [row[0] for row in made[0].rows] == list(SYSTEMS)
    assert made[1].rows[0][1:] == tuple(
        100 * getattr(compared[SYSTEMS[0]], what) for what in ("peace", "churn", "freeriders", "liars", "deaths")
    )
    drawn = comparison.plots({each.name: each for each in made})
    assert len(drawn) == 3
    assert all([key.label for key in plot.keys] == list(SYSTEMS) for plot in drawn)
    assert len(comparison.plots({each.name: each for each in made[:2]})) == 1


def test_the_page_escapes_the_name_of_the_trace_and_says_what_was_compared_on(compared: dict[str, ComparedSystem]) -> None:
    page = comparison.page("<a>", WORKLOAD, CONDITIONS, comparison.tables(list(compared.values())))
    assert "Overlays on &lt;a&gt;" in page
    assert "80 nodes, 20 topics, 320 subscriptions, seed 2. 20 cycles of peace" in page
    assert page.count('<svg class="plot"') == 3
