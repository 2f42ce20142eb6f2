"""The outcome of a run: as JSON, and with what is wrong with it, if anything. Pure."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from .oracle import LedgerSummary
from .privacy_outcome import PrivacyOutcome
from .release_outcome import ReleaseOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOutcome:
    """The outcome of a run.

    - `summary`: the deliveries.
    - `seconds`: how long was played.
    - `rss_bytes`: the memory of all processes; None where the platform does not tell.
    - `users`, `sites`, `seed`: what was played.
    - `site_messages`: copies of events that went from site to site.
    - `reconnects`: of clients.
    - `refused`, `refusal`: plays that the engine refused, and the last reason.
    - `behind_s`: by how much the plays were behind when they had to be cut short.
    - `first_missing`: the first missing delivery, (play, follower).
    - `policy`: what decided who hears whom.
    - `privacy`: the outcome of the privacy act, when it was played.
    - `release`: the outcome of the second act, when it was played.
    """

    summary: LedgerSummary
    seconds: float
    rss_bytes: float | None
    users: int
    sites: int
    seed: int
    site_messages: int
    reconnects: int
    refused: int
    refusal: str
    behind_s: float
    first_missing: tuple[str, str] | None
    policy: str
    privacy: PrivacyOutcome | None = None
    release: ReleaseOutcome | None = None

    def document(self) -> dict[str, Any]:
        """Returns the JSON of `segue demo --json`."""
        found = asdict(self.summary)
        found["latency_ms"] = {reach: _rounded(latency) for reach, latency in found["latency_ms"].items()}
        return {
            **{key: found[key] for key in ("events", "expected", "delivered", "lost", "duplicated", "latency_ms", "cross_site_share")},
            "rss_mb": None if self.rss_bytes is None else round(self.rss_bytes / 1e6, 1),
            "seconds": round(self.seconds, 3),
            "users": self.users,
            "sites": self.sites,
            "site_messages": self.site_messages,
            "misrouted": self.summary.misrouted,
            "refused": self.refused,
            "reconnects": self.reconnects,
            "policy": self.policy,
            "privacy": None if self.privacy is None else self.privacy.document(),
            "release": None if self.release is None else self.release.document(),
        }

    def verdicts(self) -> Iterator[str]:
        """Yields what holds, one sentence for each act."""
        if self.is_first_good:
            yield "Every play reached every friend exactly once."
        if self.privacy is not None and self.privacy.is_good:
            yield "Nobody heard what they must not hear."
        if self.release is not None and self.release.is_good:
            yield "Every release reached every follower on every device exactly once, awake or asleep."

    def problems(self) -> Iterator[str]:
        """Yields what must not be in a run without failures, one sentence each, with what to do."""
        found = self.summary
        if found.lost and self.first_missing:
            mark, follower = self.first_missing
            yield f"{found.lost:,} deliveries were lost, the first of them play {mark} on its way to {follower}."
        if found.duplicated:
            yield f"{found.duplicated:,} deliveries came twice."
        if found.misrouted:
            yield f"{found.misrouted:,} events came to users who do not follow the one who played."
        if self.refused:
            yield f"{self.refused:,} plays were refused, the last because of: {self.refusal}."
        if found.lost and self.reconnects:
            yield f"{self.reconnects:,} connections broke and came back; what friends played meanwhile is lost to them, as promised."
        if self.privacy is not None:
            yield from self.privacy.problems()
        if self.release is not None:
            yield from self.release.problems()

    def hints(self) -> Iterator[str]:
        """Yields what to know of the figures, and what to do about the problems."""
        if self.behind_s:
            yield f"The cluster could not keep up and the plays of the last {self.behind_s:.0f} s were left out: lower --speed or --rate."
        elif any(self.problems()):
            yield f"If this machine is busy, try --speed 0.5. If it stays, it is a defect: please report it with --seed {self.seed}."
        if self.release is not None:
            took_s = self.seconds + self.release.seconds
            yield f"Notifications are kept for 90 days. These {took_s:.0f} s did not put that to the test."

    @property
    def is_first_good(self) -> bool:
        """Whether every play reached every friend exactly once, and nobody else."""
        found = self.summary
        return not (found.lost or found.duplicated or found.misrouted or self.refused)

    @property
    def is_good(self) -> bool:
        """Whether all acts are good, as far as they were played."""
        return self.is_first_good and all(act is None or act.is_good for act in (self.privacy, self.release))


def _rounded(latency: dict[str, float | None]) -> dict[str, float | None]:
    return {name: None if value is None else round(value, 3) for name, value in latency.items()}
