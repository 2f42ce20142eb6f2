"""The agreement of `counts` with `publications`: added up by service, topic and site, publications must give the counts.

Counts may be with or without events of diagnostic kinds. Memory is 40 bytes for each row of `counts`: these grow with topics, and not
with events.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from infra.kernel.trace import DIAGNOSTIC, TABLES

from .batches import Bools, Progress, RowBatch, batches
from .defects import Defects
from .hashes import Hashes, hashes

_COUNTS = TABLES["counts"]
_SAID = TABLES["publications"]


def check_agreement(counts: Sequence[Path], publications: Sequence[Path], defects: Defects, progress: Progress) -> None:
    """Adds to `defects` where the two tables differ. Both must be whole, not samples.

    `counts`, `publications`: the files of each table. `progress`: is told what was read.
    """
    keys, places, expected = _expected(counts, progress)
    plain, diagnostic = np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    for batch in batches(publications, _SAID, [*_COUNTS.key, "kind"], "publications and counts", progress):
        found, probes = hashes(batch, _COUNTS.key), batch.among("kind", DIAGNOSTIC)
        unknown = ~_add(plain, keys, found, ~probes) & ~probes
        _add(diagnostic, keys, found, probes)
        if unknown.any():
            _tell_unknown(batch, unknown, defects)
    # Whether counts have the diagnostic events is not said anywhere, so both are right, and all between.
    wrong = np.flatnonzero((expected < plain) | (expected > plain + diagnostic))
    if len(wrong):
        first = wrong[places[wrong].argmin()]
        _tell_wrong(counts, int(places[first]), int(expected[first]), int(plain[first]), len(wrong), defects, progress)


def _expected(counts: Sequence[Path], progress: Progress) -> tuple[Hashes, NDArray[np.int64], NDArray[np.int64]]:
    """Returns of each key in `counts`, sorted: its hash, the first of its rows in all files, and its events."""
    parts = [
        (hashes(batch, _COUNTS.key), batch.numbers("events"))
        for batch in batches(counts, _COUNTS, [*_COUNTS.key, "events"], "counts: events", progress)
    ]
    found = np.concatenate([part for part, _ in parts])
    keys, places, back = np.unique(found, return_index=True, return_inverse=True)
    events = np.zeros(len(keys), dtype=np.int64)
    np.add.at(events, back, np.concatenate([part for _, part in parts]))
    return keys, places, events


def _add(sums: NDArray[np.int64], keys: Hashes, found: Hashes, chosen: Bools) -> Bools:
    """Adds one to `sums` for each of the `chosen` rows. Returns which rows have a key that is known."""
    # One search for each distinct key of a batch, not for each row: a popular topic has many rows.
    values, counts = np.unique(found[chosen], return_counts=True)
    places = np.searchsorted(keys, values).clip(max=len(keys) - 1)
    known = keys[places] == values
    sums[places[known]] += counts[known]
    return np.ones(len(found), dtype=np.bool_) if known.all() else ~np.isin(found, values[~known])


def _tell_unknown(batch: RowBatch, unknown: Bools, defects: Defects) -> None:
    first = int(unknown.argmax())
    service, topic, site = (batch.rows.column(name)[first].as_py() for name in _COUNTS.key)
    defects.add(
        batch.file,
        f"{topic} of {service} at site {site} has no row in counts",
        "count again, or leave out counts: it is derived then",
        table=_SAID.name,
        column="topic",
        row=batch.offset + first + 1,
        rows=int(np.count_nonzero(unknown)),
    )


def _tell_wrong(counts: Sequence[Path], place: int, expected: int, counted: int, rows: int, defects: Defects, progress: Progress) -> None:
    for batch in batches(counts, _COUNTS, ["topic"], "counts: events", progress):
        if place < len(batch.rows):
            what = f"{expected:,} events, but publications have {counted:,} of topic {batch.rows.column('topic')[place]}"
            remedy = "count again, or leave out counts: it is derived then"
            defects.add(batch.file, what, remedy, table=_COUNTS.name, column="events", row=batch.offset + place + 1, rows=rows)
            return
        place -= len(batch.rows)
