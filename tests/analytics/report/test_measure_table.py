"""The table of all measures."""

from analytics.measures import MEASURES
from analytics.report.measure_table import meaning, measure_table, value

FOUND = {"size_nnr.slope": 1.0204, "size_nnr.slope.low": 0.99, "size_nnr.slope.high": 1.05, "publications.share.presence": 0.8}


def test_an_interval_stands_with_what_it_belongs_to() -> None:
    assert value("size_nnr.slope", FOUND) == "1.02 (0.99 to 1.05)"
    assert measure_table(FOUND).count("<tr>") == 3


def test_a_measure_of_a_service_means_what_that_of_any_does() -> None:
    assert meaning("publications.share.presence") == "share of all publications, presence"


def test_every_measure_has_a_meaning() -> None:
    assert all(meaning(name) for name in MEASURES)
    assert meaning("publications.spikes_per_day.artist").endswith("over all whole days")
    assert meaning("nobody.knows") == ""
