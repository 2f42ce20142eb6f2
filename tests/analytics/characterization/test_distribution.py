"""Distributions are exact: compared with DuckDB and SciPy on a random trace of thousands of pairs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as f
from scipy import stats

from analytics.characterization.distribution import Population, distributions, steps

from .conftest import Done

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(300)  # some test is the first to ask for a whole characterization, perhaps on a busy machine

_TABLES = """
create view pairs as select subscriber, topic from '{0}/subscriptions/*.parquet' where service = 'presence';
create view counts as select topic, sum(events)::bigint events
    from '{0}/counts/*.parquet' where service = 'presence' group by topic having sum(events) > 0;
create view topics as select topic, coalesce(p.n, 0) subscribers, coalesce(c.events, 0) events
    from (select topic, count(*) n from pairs group by topic) p full join counts c using (topic);
create view subscribers as select subscriber, count(*) size, coalesce(sum(events), 0)::bigint received
    from pairs left join counts using (topic) group by subscriber;
"""
_CCDF = """
select value, 100 * value / ({total}) percent, count(*) count, sum(count(*)) over (order by value desc) / (sum(count(*)) over ()) ccdf
from (select {value} as value from {table} where {value} > 0) group by value order by value
"""


@pytest.fixture
def oracle(random: Done) -> duckdb.DuckDBPyConnection:
    """Computes the two tables of `workload` with another program."""
    connection = duckdb.connect()
    connection.execute(_TABLES.format(random.trace))
    return connection


@pytest.mark.parametrize(
    ("key", "table", "value", "total"),
    [
        ("popularity", "topics", "subscribers", "select count(*) from subscribers"),
        ("size", "subscribers", "size", "select count(*) from topics"),
        ("rate", "topics", "events", "select sum(events) from topics"),
        ("nnr", "subscribers", "received", "select sum(events) from topics"),
    ],
)
def test_a_ccdf_is_what_duckdb_finds(random: Done, oracle: duckdb.DuckDBPyConnection, key: str, table: str, value: str, total: str) -> None:
    """WA-1, at thousands of pairs."""
    expected = oracle.execute(_CCDF.format(table=table, value=value, total=total)).fetchall()
    found = random.curve(key)
    assert len(found) == random.summary.rows[key] == len(expected) > 20
    np.testing.assert_allclose(np.array(found, float), np.array(expected, float), rtol=1e-12)


@pytest.mark.parametrize(
    ("key", "table", "x", "y", "unit"),
    [
        ("size_nnr", "subscribers", "size", "received", "(select sum(events) / 100 from topics)"),
        ("popularity_rate", "topics", "subscribers", "events", "1"),
    ],
)
def test_means_are_what_duckdb_finds(
    random: Done, oracle: duckdb.DuckDBPyConnection, key: str, table: str, x: str, y: str, unit: str
) -> None:
    """WA-1, at thousands of pairs."""
    both = f"from {table} where {x} > 0 and {y} > 0"
    expected = oracle.execute(f"select {x}, count(*), avg({y}) / {unit} {both} group by {x} order by {x}").fetchall()
    np.testing.assert_allclose(np.array(random.curve(key), float), np.array(expected, float), rtol=1e-12)
    points = oracle.execute(f"select {x}, {y} {both}").fetchnumpy()
    rho = stats.spearmanr(points[x], points[y]).statistic
    assert random.summary.measures[f"{key}.spearman"] == pytest.approx(rho, abs=1e-12)
    assert random.summary.measures[f"{key}.spearman.low"] < rho < random.summary.measures[f"{key}.spearman.high"]


_LOW = """
select avg((100 * received / (select sum(events) from topics) < 0.001 * 8e6 / (select count(*) from topics))::int) from subscribers
"""


def test_scalars_are_what_duckdb_finds(random: Done, oracle: duckdb.DuckDBPyConnection) -> None:
    """WA-1, at thousands of pairs."""

    def one(query: str) -> Any:
        (value,) = oracle.execute(query).fetchall()[0]
        return float(value)

    expected = {
        "topics": one("select count(*) from topics"),
        "subscribers": one("select count(*) from subscribers"),
        "pairs": one("select count(*) from pairs"),
        "events": one("select sum(events) from topics"),
        "notifications": one("select sum(subscribers * events) from topics"),
        "mutual_share": one(
            "select avg((select count(*) from pairs b where b.subscriber = a.topic and b.topic = a.subscriber)) from pairs a"
        ),
        "rate.share_below_10": one("select count(*) filter (events < 10) / count(*) from counts"),
        "rate.max": one("select max(events) from counts"),
        "nnr.share_low": one(_LOW),
    }
    assert {name: random.summary.measures[name] for name in expected} == pytest.approx(expected)


def test_a_thinned_curve_keeps_exact_points_and_both_ends(spark: "SparkSession", tmp_path: Path) -> None:
    values = spark.range(1, 30_001).select((f.col("id") * f.col("id")).alias("value"))
    curves, exact = distributions([Population("x", values, 30_000**2, 1)], tmp_path)
    curve = curves["x"]
    assert (curve.n, curve.distinct, curve.value[0], curve.value[-1]) == (30_000, 30_000, 1, 30_000**2)
    assert 500 < len(curve.value) <= 1502
    np.testing.assert_allclose(curve.ccdf, (30_001 - np.sqrt(curve.value)) / 30_000)
    assert curve.mean == pytest.approx(np.mean(np.arange(1, 30_001.0) ** 2))
    np.testing.assert_array_equal(pq.read_table(exact / "figure=x")["value"].to_numpy(), np.arange(1, 30_001) ** 2)


def test_values_that_nobody_has_are_no_curve(spark: "SparkSession", tmp_path: Path) -> None:
    assert distributions([Population("x", spark.range(0).select(f.col("id").alias("value")), 1, 1)], tmp_path)[0] == {}


def test_bins_are_few_and_small_numbers_have_their_own() -> None:
    for largest in (1, 7, 10**4, 10**6, 2**62):
        per_decade = steps(largest)
        assert per_decade % 10 == 0
        assert np.floor(np.log10(largest) * per_decade) <= 1500
        assert len(np.unique(np.floor(np.log10(np.arange(1, 30)) * per_decade))) == 29
