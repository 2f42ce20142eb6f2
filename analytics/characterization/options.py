"""The options of a characterization."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analytics.errors import TraceError
from infra.kernel.trace import DIAGNOSTIC, SERVICES

_DAY_MINUTES: Final = 1440


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The choices of a characterization. Raises TraceError for what cannot be.

    - `service`: whose pairs and counts the figures of users and topics are about.
    - `bin_minutes`: width of a point in lines over time; None: an hour, and less for a short period.
    - `diagnostic`: kinds of events that are left out.
    - `bootstraps`: replications behind the p of each fit, 0 for none.
    - `seed`: of samples and fits.
    - `master`, `memory_gb`, `scratch`: see `analytics.session.session`.
    - `report`: whether to write the page as well.
    """

    service: str = "presence"
    bin_minutes: int | None = None
    diagnostic: tuple[str, ...] = DIAGNOSTIC
    bootstraps: int = 50
    seed: int = 0
    master: str | None = None
    memory_gb: int | None = None
    scratch: Path | None = None
    report: bool = True

    def __post_init__(self) -> None:
        if self.service not in SERVICES:
            raise TraceError(f"there is no service {self.service!r}; services are {', '.join(SERVICES)}")
        if self.bin_minutes is not None and not 1 <= self.bin_minutes <= _DAY_MINUTES:
            raise TraceError(f"a bin of {self.bin_minutes} minutes cannot be drawn; choose 1 to {_DAY_MINUTES}")
        if self.bootstraps < 0 or self.seed < 0:
            raise TraceError("neither the number of bootstraps nor the seed may be negative")
