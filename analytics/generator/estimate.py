"""The size of a trace, known before it is made: rows, the fraction of them that is wanted, and room on the disk."""

import shutil
from pathlib import Path
from typing import Final

from ..errors import TraceError
from .profile import Profile
from .services import VOLUMES, others
from .sessions import expected_log_ins

# Measured at scale 1: 3.4, 2.3, 5.3, 5.1 and 3.8; with some room.
_ROW_BYTES: Final = {"subscriptions": 5, "counts": 4, "publications": 7, "sessions": 7, "subscription_log": 5}


def whole_rows(profile: Profile) -> dict[str, float]:
    """Returns about how many rows each table has if nothing is left out."""
    volumes = [VOLUMES[service] for service in others(profile)]
    pairs = profile.pairs * (1 + sum(volume.pairs for volume in volumes))
    moves = 2 * expected_log_ins(profile)
    return {
        "subscriptions": pairs,
        "counts": profile.topics * (1 + sum(volume.topics for volume in volumes)),
        "publications": profile.topics * profile.mean_events * (1 + sum(volume.events for volume in volumes)),
        "sessions": moves * profile.subscribers,
        "subscription_log": moves * pairs,
    }


def fractions(profile: Profile, publications: int | None, sessions: int | None) -> dict[str, float]:
    """Returns which fraction of each table gives about the rows that were asked for.

    `publications`: rows of that table. `sessions`: rows of the larger of `sessions` and `subscription_log`, which have the same users.
    None means all rows; `profile` says how many there are.
    """
    whole = whole_rows(profile)
    stays = _fraction(sessions, max(whole["sessions"], whole["subscription_log"]))
    return dict.fromkeys(whole, 1.0) | {
        "publications": _fraction(publications, whole["publications"]),
        "sessions": stays,
        "subscription_log": stays,
    }


def check_room(target: Path, profile: Profile, fractions: dict[str, float]) -> None:
    """Raises TraceError if the disk of `target` has less room than the trace of `profile` takes while it is made.

    `fractions`: of each table, the fraction that will be written.
    """
    rows = whole_rows(profile)
    trace_bytes = sum(rows[table] * fractions[table] * _ROW_BYTES[table] for table in rows)
    # See `TracePlan`: a topic for each slot, friends; offsets; topic, events and site.
    draft_bytes = 6 * profile.pairs + 8 * profile.subscribers + 17 * rows["counts"]
    needed_bytes = trace_bytes + draft_bytes
    existing = next(parent for parent in target.absolute().parents if parent.exists())
    free_bytes = shutil.disk_usage(existing).free
    if needed_bytes > free_bytes:
        raise TraceError(
            f"{target}: would take about {needed_bytes / 1e9:.1f} GB, and the disk has {free_bytes / 1e9:.1f} GB left; "
            "make room, choose another disk, a smaller scale, or fewer publications and sessions"
        )


def _fraction(wanted: int | None, whole: float) -> float:
    return 1.0 if wanted is None else min(1.0, wanted / whole)
