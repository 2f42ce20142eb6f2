"""Publications that stay inside their site, and those that travel (thesis figure 5.8)."""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as f

from analytics.errors import NotSupported

from .binned import summed
from .grid import Floats, Grid

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A set of sites is a 64-bit number, and one bit of it is the sign.
_MOST_SITES: Final = 63


def local_and_remote(publications: "DataFrame", subscriptions: "DataFrame", grid: Grid) -> dict[str, Floats]:
    """Returns counts by fine bin of `grid`: "local" and "remote".

    A publication is local once if its own site has a subscriber, and remote once for each other site that has one. `publications` and
    `subscriptions` are the frames of these tables. Raises NotSupported where no site is known, or where there are more than 63.
    """
    told, held = publications.where(f.col("site").isNotNull()), subscriptions.where(f.col("site").isNotNull())
    sites = sorted(row["site"] for row in held.select("site").distinct().limit(_MOST_SITES + 1).collect())
    if not sites:
        raise NotSupported("the trace does not say at which site subscribers are")
    if len(sites) > _MOST_SITES:
        raise NotSupported(f"the trace has more than {_MOST_SITES} sites")
    bit = f.coalesce(
        f.create_map(*(f.lit(part) for number, site in enumerate(sites) for part in (site, 1 << number)))[f.col("site")], f.lit(0)
    )
    # Topics are fewer than publications: a hash table of them saves sorting both.
    where = held.groupBy("service", "topic").agg(f.bit_or(bit.cast("long")).alias("sites")).hint("shuffle_hash")
    here = told.withColumn("own", bit.cast("long")).join(where, ["service", "topic"])
    local = f.when(f.col("sites").bitwiseAND(f.col("own")) != 0, 1).otherwise(0)
    both = here.select("time_ms", local.alias("local"), (f.bit_count("sites") - local).alias("remote"))
    found = summed(both, grid, "local", "remote")
    if not any(counts.any() for counts in found.values()):
        raise NotSupported("no publication that has a subscriber says at which site it was made")
    return found
