"""What a characterization found, apart from its curves: `summary.json` in its folder, next to `curves/`, read by report and comparison."""

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
    """Power law against another distribution: log-likelihood ratio (positive: the power law fits better) and its p."""

    ratio: float
    p: float


class TailFit(msgspec.Struct, frozen=True, kw_only=True):
    """A power law fitted to the tail of a distribution (Clauset, Shalizi, Newman 2009).

    `n` values, `n_tail` of them from `xmin` on, over so many `decades`; exponent `alpha` of the density with standard error `sigma`;
    `ks` distance; `p_value` of the goodness of fit by `bootstraps` semi-parametric replications (below 0.1: rejected).
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
    """What was left out before any statistics, by kind of event, and of how many rows."""

    kinds: tuple[str, ...]
    dropped: dict[str, int]
    rows: int


class WorkloadSummary(msgspec.Struct, frozen=True, kw_only=True):
    """`measures`: see `measures.MEASURES`. `fits`: by figure key (popularity, size, rate, nnr). `rows`: of each curve, by key.

    `skipped`: figure key or measure -> why it is not there. `binning`: figure key -> how it was binned or sampled, in words.
    `timings_s`: by step. `settings`: options of the run.
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
    """The summary in `folder`. Raises TraceError that says what is wrong there."""
    path = folder / SUMMARY
    try:
        return msgspec.json.decode(path.read_bytes(), type=WorkloadSummary)
    except FileNotFoundError:
        raise TraceError(
            f"{folder}: is no characterization, for it has no {SUMMARY}; `segue analyze characterize TRACE` makes one"
        ) from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise TraceError(f"{path}: is no summary of a characterization: {error}") from None
