"""infra.runtime.metrics: what a scrape shows, that the tables keep the rules, and that the dashboard asks for nothing else."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import DuplicateTimeseries

import accesspoint.metrics
import aggregator.metrics
import broker.metrics
import notification.metrics
import services.artist.metrics
import services.playlist.metrics
import services.presence.metrics
import services.social.metrics
from infra.runtime.metrics import Metric, RoleCollector, Value, build_registry

TABLES = {
    "broker": broker.metrics.METRICS,
    "aggregator": aggregator.metrics.METRICS,
    "accesspoint": accesspoint.metrics.METRICS,
    "presence": services.presence.metrics.METRICS,
    "notification": notification.metrics.METRICS,
    "playlist": services.playlist.metrics.METRICS,
    "social": services.social.metrics.METRICS,
    "artist": services.artist.metrics.METRICS,
}
DECLARED = {metric.name: metric for table in TABLES.values() for metric in table}
DEPLOY = Path(__file__).parents[3] / "infra" / "deploy"


@dataclass
class Showing:
    """A role that shows what it was given."""

    role: str = "broker"
    node: str = "b1"
    site: str = "sto"
    shown: Mapping[str, Value] = field(default_factory=dict)

    def ready(self) -> str | None:
        return None

    def counters(self) -> Mapping[str, Value]:
        return self.shown


def samples(*roles: Showing, metrics: tuple[Metric, ...] = tuple(DECLARED.values())) -> dict[tuple[str, ...], float]:
    """Returns (sample name, label values in the order of their names) -> value, as a scraper reads them."""
    registry = CollectorRegistry()
    registry.register(RoleCollector(roles, metrics))
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {(s.name, *(s.labels[key] for key in sorted(s.labels))): s.value for family in families for s in family.samples}


def test_a_scrape_shows_each_number_with_the_node_and_site_of_its_role() -> None:
    sto = Showing(shown={"broker_links": 3, "broker_link_queue_bytes": 512})
    lon = Showing(node="b2", site="lon", shown={"broker_links": 4})
    assert samples(sto, lon) == {
        ("broker_links", "b1", "sto"): 3.0,
        ("broker_links", "b2", "lon"): 4.0,
        ("broker_link_queue_bytes", "b1", "sto"): 512.0,
    }


def test_a_mapping_becomes_one_sample_per_value_of_the_declared_label() -> None:
    role = Showing(shown={"broker_events_rejected_total": {"bad-topic": 2, "forbidden": 1}})
    assert samples(role) == {
        ("broker_events_rejected_total", "bad-topic", "b1", "sto"): 2.0,
        ("broker_events_rejected_total", "forbidden", "b1", "sto"): 1.0,
    }


def test_a_scrape_reads_the_roles_anew_each_time() -> None:
    numbers: dict[str, Value] = {"broker_links": 1}
    registry = CollectorRegistry()
    registry.register(RoleCollector([Showing(shown=numbers)]))
    labels = {"site": "sto", "node": "b1"}
    assert registry.get_sample_value("broker_links", labels) == 1
    numbers["broker_links"] = 2
    assert registry.get_sample_value("broker_links", labels) == 2


def test_a_name_that_no_table_declares_is_exported_all_the_same() -> None:
    role = Showing(shown={"broker_new_total": {"a": 1}, "broker_new_rows": 2})
    assert samples(role, metrics=()) == {("broker_new_total", "a", "b1", "sto"): 1.0, ("broker_new_rows", "b1", "sto"): 2.0}


@pytest.mark.parametrize("shown", [{"broker_links": {"a": 1.0}}, {"broker_events_rejected_total": 1.0}])
def test_a_value_of_the_wrong_shape_is_an_error_that_names_the_metric_and_the_role(shown: Mapping[str, Value]) -> None:
    with pytest.raises(ValueError, match=r"broker b1 gave .* for broker_.* declared as"):
        samples(Showing(shown=shown))


def test_two_collectors_with_the_same_metric_cannot_share_a_registry() -> None:
    registry = CollectorRegistry()
    registry.register(RoleCollector([], broker.metrics.METRICS))
    with pytest.raises(DuplicateTimeseries):
        registry.register(RoleCollector([], broker.metrics.METRICS))


def test_the_registry_of_a_process_shows_memory_cpu_descriptors_and_loop_lag() -> None:
    registry = build_registry([], (), lambda: 0.25)
    assert registry.get_sample_value("process_loop_lag_seconds") == 0.25
    for name in ("process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds"):
        assert (registry.get_sample_value(name) or 0) > 0, name


@pytest.mark.parametrize(("name", "kind"), [("broker_links_total", "gauge"), ("broker_links", "counter")])
def test_a_name_whose_ending_contradicts_its_kind_is_refused(name: str, kind: Any) -> None:
    with pytest.raises(ValueError, match=name):
        Metric(name, kind, "Help.", "links")


@pytest.mark.parametrize("role", TABLES)
def test_each_table_follows_the_naming_rule_and_explains_every_metric(role: str) -> None:
    """Design 5.5: labels come from closed sets, never from what clients invent."""
    table = TABLES[role]
    assert len({metric.name for metric in table}) == len(table)
    for metric in table:
        assert re.fullmatch(rf"{role}(_[a-z]+)+", metric.name)
        assert metric.help.endswith(".")
        assert metric.unit
        assert metric.label in {"", "awaited", "code", "kind", "limit", "op", "result", "state"}
        assert not metric.name.removesuffix("_total").endswith("_bytes") or metric.unit == "bytes"


def test_every_declared_metric_can_be_scraped() -> None:
    shown: dict[str, Value] = {name: {"x": 1.0} if metric.label else 1.0 for name, metric in DECLARED.items()}
    assert {key[0] for key in samples(Showing(shown=shown))} == DECLARED.keys()


def expressions(dashboard: Path) -> list[str]:
    return [target["expr"] for panel in json.loads(dashboard.read_text())["panels"] for target in panel.get("targets", ())]


@pytest.mark.parametrize("dashboard", sorted(DEPLOY.glob("dashboards/*.json")), ids=lambda path: path.name)
def test_a_dashboard_asks_only_for_metrics_that_exist_and_rates_only_counters(dashboard: Path) -> None:
    process = {sample.name for family in build_registry([], (), lambda: 0.0).collect() for sample in family.samples}
    asked = [name for expr in expressions(dashboard) for name in re.findall(rf"\b(?:{'|'.join(TABLES)}|process)_[a-z_]+", expr)]
    assert asked
    assert set(asked) <= DECLARED.keys() | process
    rated = {name for expr in expressions(dashboard) for name in re.findall(r"\brate\((\w+)", expr)}
    assert rated == {name for name in asked if name.endswith("_total")}


@pytest.mark.parametrize("dashboard", sorted(DEPLOY.glob("dashboards/*.json")), ids=lambda path: path.name)
def test_the_panels_of_a_dashboard_have_ids_of_their_own_and_do_not_overlap(dashboard: Path) -> None:
    panels = json.loads(dashboard.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [(x, y) for panel in panels for x, y in grid_cells(panel["gridPos"])]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def grid_cells(at: dict[str, int]) -> list[tuple[int, int]]:
    return [(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]


def test_the_labels_that_dashboards_group_by_are_declared() -> None:
    asked = [expr for dashboard in DEPLOY.glob("dashboards/*.json") for expr in expressions(dashboard)]
    grouped = [(label, name) for expr in asked for label, name in re.findall(r"sum by \((\w+)\) \((?:rate\()?(\w+)", expr)]
    assert len(grouped) > 1
    for label, name in grouped:
        assert label in {"site", "instance", DECLARED[name].label if name in DECLARED else ""}, name
