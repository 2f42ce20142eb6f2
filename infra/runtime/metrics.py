"""Metrics: what a role declares, what it shows, and how Prometheus reads it.

Rule: the hot path never calls anything here. A role counts in plain attributes. A scrape asks `counters()` and builds the families then
(practice 22, design 5.5). Labels are `site` and `node`, plus at most one more whose values come from a fixed set in the code: never a
user, a topic or anything else that a client can invent.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

Value: TypeAlias = float | Mapping[str, float]
Family: TypeAlias = CounterMetricFamily | GaugeMetricFamily


@dataclass(frozen=True, slots=True)
class Metric:
    """One row of a role's table `METRICS`.

    - `name`: `<role>_<thing>_<unit>[_total]`. It ends in `_total` exactly when `kind` is "counter"; otherwise this raises ValueError.
    - `label`: the extra label of a metric whose value is a mapping (label value -> number); "" for a plain number.
    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    unit: str
    label: str = ""

    def __post_init__(self) -> None:
        if self.name.endswith("_total") != (self.kind == "counter"):
            raise ValueError(f"{self.name}: a counter's name ends in _total and a gauge's does not; this one is a {self.kind}")


class Observed(Protocol):
    """A role as operators see it. All members are read on the loop's thread and must not block."""

    @property
    def role(self) -> str:
        """The name of the role (see `infra.kernel.roles`)."""

    @property
    def node(self) -> str:
        """The node's name, unique among the nodes of its role and site."""

    @property
    def site(self) -> str:
        """The data centre that the node serves."""

    def ready(self) -> str | None:
        """Returns None when the role can do its work, otherwise why it cannot, in words for an operator."""

    def counters(self) -> Mapping[str, Value]:
        """Returns the name of each `Metric` with its value now: a mapping for a metric that declares a label."""


class RoleCollector(Collector):
    """A collector that reads the roles of one process when Prometheus asks.

    A name that `metrics` does not declare is exported all the same, and its ending tells its kind. So a row that somebody forgot shows
    up in a scrape, and no number is lost.
    """

    def __init__(self, roles: Sequence[Observed], metrics: Iterable[Metric] = ()) -> None:
        self._roles = roles
        self._declared = {metric.name: metric for metric in metrics}

    def describe(self) -> list[Family]:
        """Returns the declared families without samples, so that the registry can refuse clashes and answer `?name[]=`."""
        return [_family(metric) for metric in self._declared.values()]

    def collect(self) -> Iterable[Family]:
        """Returns one family for each name that any role shows. Raises ValueError when a value contradicts its declaration."""
        families: dict[str, Family] = {}
        for role in self._roles:
            for name, value in role.counters().items():
                metric = self._declared.get(name) or _undeclared(name, value)
                if name not in families:
                    families[name] = _family(metric)
                _add(families[name], metric, role, value)
        return families.values()


class LoopLagCollector(Collector):
    """A collector of `process_loop_lag_seconds`. `lag_s` tells the lag in seconds."""

    def __init__(self, lag_s: Callable[[], float]) -> None:
        self._lag_s = lag_s

    def collect(self) -> Iterable[Family]:
        """Yields one gauge."""
        yield GaugeMetricFamily("process_loop_lag_seconds", "Longest recent delay of the event loop.", value=self._lag_s())


class ProcessFigures(Collector):
    """A collector of what a process counts beside its roles, without their labels. `figures` tells the values that `metrics` declare."""

    def __init__(self, metrics: Iterable[Metric], figures: Callable[[], Mapping[str, Value]]) -> None:
        self._declared = {metric.name: metric for metric in metrics}
        self._figures = figures

    def collect(self) -> Iterable[Family]:
        """Yields one family for each figure."""
        for name, value in self._figures().items():
            metric = self._declared[name]
            family = _family(metric, ())
            for label_value, number in value.items() if isinstance(value, Mapping) else (("", value),):
                family.add_metric((label_value,) if metric.label else (), number)
            yield family


def build_registry(
    roles: Sequence[Observed],
    metrics: Iterable[Metric],
    lag_s: Callable[[], float],
    others: Iterable[Collector] = (),
) -> CollectorRegistry:
    """Returns a registry for one process.

    - `roles`: the roles that it reads.
    - `metrics`: what they declare.
    - `lag_s`: tells the lag of the loop in seconds.
    - `others`: what else shows figures of the process.

    On Linux it has memory, CPU time and descriptors of the process, too.
    """
    registry = CollectorRegistry()
    registry.register(RoleCollector(roles, metrics))
    registry.register(LoopLagCollector(lag_s))
    for other in others:
        registry.register(other)
    ProcessCollector(registry=registry)
    return registry


_LABELS: Final = ("site", "node")


def _undeclared(name: str, value: Value) -> Metric:
    kind: Literal["counter", "gauge"] = "counter" if name.endswith("_total") else "gauge"
    return Metric(name, kind, "Not described by any table of metrics.", "", "kind" if isinstance(value, Mapping) else "")


def _family(metric: Metric, common: tuple[str, ...] = _LABELS) -> Family:
    labels = (*common, metric.label) if metric.label else common
    family = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    return family(metric.name, metric.help, labels=labels)


def _add(family: Family, metric: Metric, role: Observed, value: Value) -> None:
    if isinstance(value, Mapping) != bool(metric.label):
        expected = f"a mapping from {metric.label} to numbers" if metric.label else "a plain number"
        raise ValueError(f"{role.role} {role.node} gave {value!r} for {metric.name}, which is declared as {expected}")
    if isinstance(value, Mapping):
        for label_value, number in value.items():
            family.add_metric((role.site, role.node, label_value), number)
    else:
        family.add_metric((role.site, role.node), value)
