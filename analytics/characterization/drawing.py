"""The inputs that all figures of time share."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analytics.numbers import number
from analytics.trace import Trace
from infra.kernel.trace import SERVICES

from .binned import Binned
from .grid import Grid, Series
from .lines import levels, rates, write_line
from .results import Results

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Drawing:
    """The inputs of a figure of time, and where it is written.

    - `spark`, `trace`: what is read. `grid`: the bins of its period.
    - `diagnostic`: kinds of events that are left out.
    - `results`: takes what is found. `folder`: where `curves/` is.
    """

    spark: "SparkSession"
    trace: Trace
    grid: Grid
    diagnostic: tuple[str, ...]
    results: Results
    folder: Path

    def line(self, key: str, counts: Series) -> None:
        """Draws a figure of counts by fine bin, as rates per hour."""
        if self.results.wants(key):
            write_line(self.grid, key, rates(self.grid, counts), self.results, self.folder)

    def level(self, key: str, stands: Series) -> None:
        """Draws a figure of what stands at the end of each fine bin."""
        if self.results.wants(key):
            write_line(self.grid, key, levels(self.grid, stands), self.results, self.folder)

    def scale(self, table: str) -> float:
        """Returns what counts of a sample are multiplied by."""
        return 1 / self.trace.manifest.tables[table].fraction

    def note_sample(self, key: str, table: str, found: Binned) -> None:
        """Notes in figure `key` what the counts of `table` are of; `found` knows what lies outside of the period."""
        info = self.trace.manifest.tables[table]
        if info.fraction < 1:
            what = "users" if info.sampled_by == "user" else "rows"
            self.results.note(
                key, f"The {table} are a sample of {number(100 * info.fraction)} % of all {what}; counts are scaled up by its inverse."
            )
        if outside := sum(found.outside.values()):
            self.results.note(key, f"{outside:,} rows outside of the period are left out.")

    def skip_other_services(self, names: tuple[str, ...], there: set[str], what: str) -> None:
        """Skips the measures of the services that are not `there`.

        `names`: the measures, before the name of a service. `what`: what such a service has none of.
        """
        for service in SERVICES:
            if service not in there:
                for name in names:
                    self.results.skip(f"{name}.{service}", f"there is no {what} of the service {service}")
