"""The price of Spark on one machine: the distributions of a characterization by DuckDB, on the same Parquet files."""

import sys
import time
from pathlib import Path

import duckdb
import msgspec

_CCDF = """SELECT value, count(*) AS n, sum(count(*)) OVER (ORDER BY value DESC) AS above FROM ({}) GROUP BY value ORDER BY value"""
_SETUP = (
    """CREATE TABLE c AS SELECT topic, sum(events) AS events FROM read_parquet('{0}/counts/*.parquet')
       WHERE service = 'presence' GROUP BY topic""",
    """CREATE TABLE p AS SELECT topic, count(*) AS subscribers FROM read_parquet('{0}/subscriptions/*.parquet')
       WHERE service = 'presence' GROUP BY topic""",
    """CREATE TABLE s AS SELECT subscriber, count(*) AS size, sum(events) AS events FROM read_parquet('{0}/subscriptions/*.parquet')
       LEFT JOIN c USING (topic) WHERE service = 'presence' GROUP BY subscriber""",
)
_CURVES = (
    _CCDF.format("SELECT subscribers AS value FROM p"),
    _CCDF.format("SELECT size AS value FROM s"),
    _CCDF.format("SELECT events AS value FROM c"),
    _CCDF.format("SELECT events AS value FROM s"),
    "SELECT size, count(*), avg(events) FROM s GROUP BY size ORDER BY size",
    "SELECT subscribers, count(*), avg(events) FROM p JOIN c USING (topic) GROUP BY subscribers ORDER BY subscribers",
)


class DuckdbFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of DuckDB. `pairs` is compared with Spark's count; `rows` are those of all curves."""

    seconds: float
    pairs: int
    rows: int


def distributions(trace: Path) -> DuckdbFigures:
    """Computes the six curves of section A2 for one service."""
    start_s = time.perf_counter()
    with duckdb.connect() as db:
        for statement in _SETUP:
            db.execute(statement.format(trace))
        rows = sum(len(db.execute(statement).fetchall()) for statement in _CURVES)
        found = db.execute("SELECT sum(size) FROM s").fetchone()
    assert found is not None
    return DuckdbFigures(seconds=time.perf_counter() - start_s, pairs=int(found[0]), rows=rows)


if __name__ == "__main__":
    print(msgspec.json.encode(distributions(Path(sys.argv[1]))).decode())
