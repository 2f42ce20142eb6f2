"""The checks of a single row, and of a row with the one before it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from infra.kernel.manifest import Manifest
from infra.kernel.trace import SOCIAL_SERVICES, Column, Table

from .batches import Bools, Progress, RowBatch, batches
from .defects import Defects


class RowRule(NamedTuple):
    """A rule that no row may break.

    - `column`: whose values it is about. `what`: completes "the value ...". `remedy`: what to do.
    - `broken`: returns which rows of a batch break it.
    """

    column: str
    what: str
    remedy: str
    broken: Callable[[RowBatch], Bools]


def check_rows(files: Sequence[Path], table: Table, manifest: Manifest, defects: Defects, progress: Progress) -> int:
    """Adds to `defects` what is wrong with single rows of a table. Returns how many rows there are.

    `files`, `table`: what to read. `manifest`: tells period and sites. `progress`: is told what was read.
    """
    rules = [rule for column in table.columns for rule in _rules_of(column, manifest)] + _rules_between(table)
    order, rows = _Order(), 0
    for batch in batches(files, table, [column.name for column in table.columns], table.name, progress):
        for rule in [*rules, order.rule(batch)] if table.by_time else rules:
            _apply(rule, table, batch, defects)
        rows += len(batch.rows)
    return rows


def _apply(rule: RowRule, table: Table, batch: RowBatch, defects: Defects) -> None:
    broken = rule.broken(batch)
    if count := int(np.count_nonzero(broken)):
        first = int(broken.argmax())
        value: Any = batch.rows.column(rule.column)[first].as_py()
        defects.add(
            batch.file,
            f"{value!r} {rule.what}",
            rule.remedy,
            table=table.name,
            column=rule.column,
            row=batch.offset + first + 1,
            rows=count,
        )


def _rules_of(column: Column, manifest: Manifest) -> list[RowRule]:
    name, rules = column.name, []
    if not column.may_be_null:
        rules.append(RowRule(name, "is not allowed: it must be known", "fill it in or leave out the row", lambda batch: batch.nulls(name)))
    if column.words:
        rules.append(_one_of(name, column.words, "is not known", f"it must be {' or '.join(column.words)}"))
    if name == "site" and manifest.sites:
        rules.append(_one_of(name, manifest.sites, "is no site of the manifest", "add it to sites there, or correct it"))
    if name == "time_ms":
        rules += _in_period(manifest)
    elif column.type == "int64":
        rules.append(RowRule(name, "is negative", "numbers are 0 or more", lambda batch: batch.numbers(name) < 0))
    return rules


def _one_of(name: str, words: Sequence[str], what: str, remedy: str) -> RowRule:
    return RowRule(name, what, remedy, lambda batch: ~batch.among(name, words) & ~batch.nulls(name))


def _in_period(manifest: Manifest) -> list[RowRule]:
    start_ms, end_ms = manifest.start_ms, manifest.end_ms
    if start_ms is None or end_ms is None or start_ms >= end_ms:
        return []

    def outside(batch: RowBatch) -> Bools:
        times = batch.numbers("time_ms")
        found: Bools = ((times < start_ms) | (times >= end_ms)) & ~batch.nulls("time_ms")
        return found

    return [
        RowRule("time_ms", f"is outside of the period {start_ms} to {end_ms}", "correct start_ms and end_ms, or leave out the row", outside)
    ]


def _rules_between(table: Table) -> list[RowRule]:
    if not {"subscriber", "topic", "service"} <= {column.name for column in table.columns}:
        return []

    def own(batch: RowBatch) -> Bools:
        found: Bools = (batch.numbers("subscriber") == batch.numbers("topic")) & batch.among("service", SOCIAL_SERVICES)
        return found

    return [RowRule("topic", "is the subscriber of the same row", "users do not follow themselves: leave out the row", own)]


class _Order:
    """The order of times: in a file they must not fall, also from one batch to the next."""

    def __init__(self) -> None:
        self._file: Path | None = None
        self._last = 0

    def rule(self, batch: RowBatch) -> RowRule:
        times = batch.numbers("time_ms")
        before = np.empty_like(times)
        before[1:] = times[:-1]
        before[:1] = self._last if batch.file == self._file else times[:1]
        self._file, self._last = batch.file, int(times[-1])
        broken: Bools = times < before
        return RowRule("time_ms", "is before the time of the row above", "sort each file by time_ms", lambda _: broken)
