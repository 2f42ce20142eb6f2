"""The defects of a trace. The same trouble in many rows and files is one defect, so that the list stays short."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(slots=True, kw_only=True)
class Defect:
    """One kind of trouble: where it is met first, and how often.

    - `severity`: errors make a trace unfit, warnings limit what it can tell.
    - `file`, `row`, `column`: where it is met first. `row` counts from 1 in its file; None is the whole file.
    - `what`: what is wrong there. `remedy`: what to do.
    - `rows`, `files`: how many have it.
    """

    severity: Severity
    file: Path
    row: int | None
    column: str
    what: str
    remedy: str
    rows: int
    files: int

    def __str__(self) -> str:
        place = [str(self.file)]
        place += [] if self.row is None else [f"row {self.row:,}"]
        place += [f"column {self.column}"] if self.column else []
        return f"{', '.join(place)}: {self.what}{self._extent()}; {self.remedy}"

    def _extent(self) -> str:
        parts = [f"{self.rows:,} rows"] if self.rows > 1 else []
        parts += [f"{self.files:,} files"] if self.files > 1 else []
        return f" ({' in '.join(parts)})" if parts else ""


@dataclass(frozen=True, slots=True)
class Report:
    """All defects of a trace, and the rows of each table that were read."""

    defects: tuple[Defect, ...]
    rows: dict[str, int]

    @property
    def errors(self) -> int:
        """How many defects make the trace unfit."""
        return sum(defect.severity == "error" for defect in self.defects)

    @property
    def warnings(self) -> int:
        """How many defects only limit what the trace can tell."""
        return len(self.defects) - self.errors


class Defects:
    """The defects as they come up. Those with the same table, column and remedy are one. Files come one after the other."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Defect] = {}
        self._last: dict[tuple[str, str, str], Path] = {}

    def add(
        self,
        file: Path,
        what: str,
        remedy: str,
        *,
        table: str = "",
        column: str = "",
        row: int | None = None,
        rows: int = 0,
        severity: Severity = "error",
    ) -> None:
        """Adds a defect, or counts it where the same one is known.

        - `file`: where it is. `what`: what is wrong there. `remedy`: what to do.
        - `table`, `column`: where in a trace.
        - `row`: the first row of the file that has it. `rows`: how many rows of it do.
        - `severity`: error or warning.
        """
        key = table, column, remedy
        if (known := self._found.get(key)) is None:
            self._found[key] = Defect(severity=severity, file=file, row=row, column=column, what=what, remedy=remedy, rows=rows, files=1)
        else:
            known.rows += rows
            known.files += self._last[key] != file
        self._last[key] = file

    def all(self) -> tuple[Defect, ...]:
        """Returns all defects: errors before warnings, else in the order in which they came up."""
        return tuple(sorted(self._found.values(), key=lambda defect: defect.severity))
