"""The outcome of the second act: as JSON, and with what is wrong with it, if anything. Pure."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from .release_oracle import ReleaseSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOutcome:
    """The outcome of the second act. `rows` is what the module wrote to its `store`; `first_missing` is (user, device, item)."""

    summary: ReleaseSummary
    artist: str
    store: str
    rows: int
    seconds: float
    first_missing: tuple[str, str, str] | None

    def document(self) -> dict[str, Any]:
        """Returns its part of the JSON of `segue demo --json`."""
        found = asdict(self.summary)
        live_ms = found.pop("live_ms")
        p50, p99 = (None, None) if live_ms is None else (round(each, 3) for each in live_ms)
        own = {"artist": self.artist, "store": self.store, "seconds": round(self.seconds, 3), "rows_written": self.rows}
        return {**own, **found, "live_ms": {"p50": p50, "p99": p99}}

    def problems(self) -> Iterator[str]:
        """Yields what must not be, one sentence each."""
        found = self.summary
        if self.rows != found.rows:
            yield f"{self.rows:,} rows were written, and {found.rows:,} should have been."
        if found.lost:
            where = "" if self.first_missing is None else " the first of them {2} on the {1} of {0}.".format(*self.first_missing)
            yield f"{found.lost:,} notifications were lost{',' if where else '.'}{where}"
        for number, what in (
            (found.shown_twice, "notifications were shown twice."),
            (found.misrouted, "notifications or mails went to somebody whom they do not concern."),
            (found.mails_to_awake, "mails went to people who were online."),
            (found.mails_wrong, "mails are missing, came twice, or should not have been sent."),
            (found.pushes_wrong, "pushes are missing, came twice, or should not have been sent."),
            (found.unread_wrong, "devices show a wrong number of unread notifications."),
            (found.read_unheard, "devices did not hear what their user has read on another one."),
        ):
            if number:
                yield f"{number:,} {what}"

    @property
    def is_good(self) -> bool:
        """Whether everybody got everything, once, and nobody was mailed who should not be."""
        return not any(self.problems())
