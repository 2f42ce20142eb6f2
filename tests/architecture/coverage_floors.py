"""Judges what `make test` has measured: `.venv/bin/python tests/architecture/coverage_floors.py` after a whole run.

It prints the files with the fewest lines run, and the total. It ends with 1 where a file or the total is under its floor.
"""

import sys
from pathlib import Path
from typing import Final, NamedTuple

import coverage
import msgspec

REPORT: Final = Path(__file__).resolve().parents[2] / "build" / "coverage" / "report.json"
FILE_PERCENT: Final = 85.0
TOTAL_PERCENT: Final = 95.0
WORST: Final = 10
# Files whose lines run in processes that tests start, which are not measured; each with the tests that do so.
ELSEWHERE: Final = {
    "infra/runtime/standard_output.py": "tests/infra/runtime/test_standard_output.py, tests/segue/cli/test_endings.py",
    "infra/runtime/stopping.py": "tests/infra/runtime/test_stopping.py, tests/segue/cli/test_endings.py",
}


class Measured(NamedTuple):
    """A file: how many of its lines could be run, and how many were not."""

    path: str
    lines: int
    missed: int

    @property
    def percent(self) -> float:
        """The share of its lines that were run; an empty file has all of them."""
        return 100.0 * (self.lines - self.missed) / self.lines if self.lines else 100.0


def total(files: list[Measured]) -> Measured:
    """Returns all files as one."""
    return Measured("total", sum(each.lines for each in files), sum(each.missed for each in files))


def table(files: list[Measured]) -> str:
    """Returns the worst files and the total, a line each."""
    worst = sorted(files, key=lambda each: each.percent)[:WORST]
    return "\n".join(
        f"{each.percent:6.1f} %  {each.missed:4d} of {each.lines:5d} lines not run  {each.path}" for each in [*worst, total(files)]
    )


def faults(files: list[Measured]) -> list[str]:
    """Returns what is under a floor, a sentence each."""
    low = [each for each in files if each.percent < FILE_PERCENT and each.path not in ELSEWHERE]
    found = [f"{each.path}: {each.percent:.1f} % of its lines are run, and {FILE_PERCENT:.0f} % must be" for each in low]
    if total(files).percent < TOTAL_PERCENT:
        found.append(f"{total(files).percent:.1f} % of all lines are run, and {TOTAL_PERCENT:.0f} % must be")
    return found


def measured() -> list[Measured]:
    """Returns every file of the packages that pyproject.toml names, also those that no test has imported."""
    data = coverage.Coverage()
    data.load()
    data.json_report(outfile=str(REPORT))
    files = msgspec.json.decode(REPORT.read_bytes())["files"]
    return [Measured(path, each["summary"]["num_statements"], each["summary"]["missing_lines"]) for path, each in files.items()]


def main() -> int:
    """Prints the table and what is wrong; returns the exit code."""
    files = measured()
    wrong = faults(files)
    print(table(files), *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
