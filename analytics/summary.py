"""The summary of a characterization: `summary.json` in its folder, next to `curves/`. The report and the comparison read it."""

from pathlib import Path
from typing import Any, Final

import msgspec

from infra.kernel.manifest import Manifest

from .errors import TraceError

SUMMARY: Final = "summary.json"
VERSION: Final = 1
# Over fewer powers of ten a power law looks like anything else that falls.
LEAST_DECADES: Final = 1.5


class LikelihoodRatio(msgspec.Struct, frozen=True, kw_only=True):
    """A power law against another distribution.

    - `ratio`: the log-likelihood ratio; it is positive where the power law fits better.
    - `p`: how likely a ratio as far from 0 is by chance.
    """

    ratio: float
    p: float


class TailFit(msgspec.Struct, frozen=True, kw_only=True):
    """A power law fitted to the tail of a distribution (Clauset, Shalizi, Newman 2009).

    - `n`: all values. `n_tail`: those from `xmin` on, over so many `decades`.
    - `alpha`: exponent of the density, with the standard error `sigma`. `ks`: Kolmogorov-Smirnov distance.
    - `p_value`: of the goodness of fit by `bootstraps` semi-parametric replications (below 0.1: rejected); None where none were made.
    - `against`: other distributions, by name. `verdict`: the result in words.
    """

    n: int
    n_tail: int
    xmin: float
    decades: float
    alpha: float
    sigma: float
    ks: float
    p_value: float | None
    bootstraps: int
    against: dict[str, LikelihoodRatio]
    verdict: str

    @property
    def tells(self) -> bool:
        """Whether the tail is long enough to say anything about its law."""
        return self.decades >= LEAST_DECADES


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that were left out before any statistics.

    - `kinds`: the kinds of events that were asked to be left out.
    - `dropped`: how many rows of each kind were.
    - `rows`: how many rows there were before.
    """

    kinds: tuple[str, ...]
    dropped: dict[str, int]
    rows: int


class WorkloadSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a characterization found, apart from its curves.

    - `measures`: by name, see `measures.MEASURES`.
    - `fits`: by figure key (popularity, size, rate, nnr).
    - `rows`: how many rows the exact curve of each figure has, by key.
    - `skipped`: why a figure or a measure is not there, by key or name.
    - `binning`: how a figure was binned or sampled, in words, by key.
    - `settings`: the options of the run. `timings_s`: how long each step took.
    """

    version: int = VERSION
    manifest: Manifest
    filter: Filter
    measures: dict[str, float]
    fits: dict[str, TailFit]
    rows: dict[str, int]
    skipped: dict[str, str]
    binning: dict[str, str]
    settings: dict[str, Any]
    timings_s: dict[str, float]


def write(folder: Path, summary: WorkloadSummary) -> None:
    """Writes `summary.json` in `folder`."""
    (folder / SUMMARY).write_bytes(msgspec.json.format(msgspec.json.encode(summary)) + b"\n")


def read(folder: Path) -> WorkloadSummary:
    """Reads the summary in `folder`. Raises TraceError that says what is wrong there."""
    path = folder / SUMMARY
    try:
        return msgspec.json.decode(path.read_bytes(), type=WorkloadSummary)
    except FileNotFoundError:
        raise TraceError(
            f"{folder}: is no characterization, because it has no {SUMMARY}; `segue analyze characterize TRACE` makes one"
        ) from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise TraceError(f"{path}: is no summary of a characterization: {error}") from None
