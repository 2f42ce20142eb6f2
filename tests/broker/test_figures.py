"""The figures of a broker."""

from broker.metrics import METRICS
from tests.support.cluster import Cluster


async def test_a_broker_has_a_figure_for_each_of_its_metrics() -> None:
    """With and without a window: what is not there counts nothing."""
    async with Cluster(sites=1) as c:
        figures = c.of("broker")[0].figures.counters()
        named = {metric.name for metric in METRICS}
        assert named <= figures.keys()
        assert {name for name in figures if name.startswith("broker_")} == named
        assert (figures["broker_sites_live"], figures["broker_view_number"] > 0) == (1, True)
