"""A trace on disk: opened, checked as far as a look at its folder can, and read into Spark."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from infra.kernel.errors import ConfigError
from infra.kernel.manifest import MANIFEST, MANIFESTS, Manifest, TableInfo, decode, merge
from infra.kernel.trace import TABLES

from .errors import NotSupported, TraceError
from .schema import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Trace:
    """A folder with a manifest. Its rows have not been looked at: `validation.validate` does that."""

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: Path) -> Self:
        """Opens the trace at `path`. Raises TraceError that says what is missing there and how to get a trace."""
        if not path.is_dir():
            raise TraceError(f"{path}: there is no such folder; `segue analyze generate`, `segue analyze import` or a capture makes one")
        found = sorted(path.glob(MANIFESTS))
        if not found:
            raise TraceError(f"{path}: is no trace, because it has no {MANIFEST}; see docs/trace.md for what a trace is")
        try:
            manifest = merge([decode(each.read_bytes(), str(each)) for each in found])
        except ConfigError as error:
            raise TraceError(str(error)) from None
        except OSError as error:
            raise TraceError(f"{error.filename}: cannot be read: {error.strerror}") from None
        return cls(path, manifest)

    def has(self, table: str) -> bool:
        """Returns whether there are rows of `table`."""
        info = self.manifest.tables.get(table)
        return info is not None and info.rows > 0

    def info(self, table: str) -> TableInfo:
        """Returns what the manifest says of `table`. Raises NotSupported if the trace lacks it."""
        if not self.has(table):
            raise NotSupported(f"{self.path}: has no {table}: {TABLES[table].meaning}")
        return self.manifest.tables[table]

    def files(self, table: str) -> list[Path]:
        """Returns the Parquet files of `table`, in order."""
        return sorted((self.path / table).glob("*.parquet"))

    def frame(self, spark: "SparkSession", table: str) -> "DataFrame":
        """Reads the rows of `table`. Raises NotSupported if there are none, TraceError if their files are gone."""
        self.info(table)
        files = self.files(table)
        if not files:
            raise TraceError(f"{self.path / table}: the manifest says that there are {table}, but there is no *.parquet file")
        return spark.read.schema(spark_schema(TABLES[table])).parquet(*map(str, files))

    def subscriptions(self, spark: "SparkSession") -> "DataFrame":
        """Reads all pairs of the period: the table, or the pairs that the log says began (one site per pair)."""
        from pyspark.sql import functions as f

        if self.has("subscriptions"):
            return self.frame(spark, "subscriptions")
        # A pair may begin several times. The least site is as good as any, and the same on every machine.
        begun = self.frame(spark, "subscription_log").where(f.col("action") == "subscribe")
        return begun.groupBy("subscriber", "service", "topic").agg(f.min("site").alias("site"))

    def counts(self, spark: "SparkSession", diagnostic: tuple[str, ...] = ()) -> "DataFrame":
        """Reads the events per (service, topic, site): the table, or the publications counted without those of `diagnostic` kinds.

        Raises NotSupported where the publications are only a sample: then events per topic are not known.
        """
        from pyspark.sql import functions as f

        if self.has("counts"):
            return self.frame(spark, "counts")
        if self.info("publications").fraction < 1:
            raise NotSupported(f"{self.path}: publications are a sample and there are no counts, so events per topic are not known")
        events = self.frame(spark, "publications")
        kept = events.where(f.col("kind").isNull() | ~f.col("kind").isin(*diagnostic)) if diagnostic else events
        return kept.groupBy("service", "topic", "site").agg(f.count("*").alias("events"))
