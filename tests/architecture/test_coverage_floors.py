"""What is said of a run that was measured."""

from tests.architecture.coverage_floors import ELSEWHERE, FILE_PERCENT, Measured, faults, table, total
from tests.architecture.sources import ROOT

GOOD = Measured("broker/core.py", 1000, 10)
EMPTY = Measured("broker/__init__.py", 0, 0)


def test_a_run_above_the_floors_has_no_fault() -> None:
    assert faults([GOOD, EMPTY]) == []


def test_a_file_under_the_floor_is_a_fault_however_good_the_others_are() -> None:
    assert faults([GOOD, Measured("broker/mesh.py", 20, 4)]) == [
        f"broker/mesh.py: 80.0 % of its lines are run, and {FILE_PERCENT:.0f} % must be"
    ]


def test_files_that_are_each_good_enough_may_be_too_bad_together() -> None:
    assert faults([Measured("broker/mesh.py", 100, 14)]) == ["86.0 % of all lines are run, and 95 % must be"]


def test_the_worst_file_stands_first_and_the_total_last() -> None:
    lines = table([GOOD, EMPTY, Measured("broker/mesh.py", 100, 14)]).splitlines()
    assert [line.split()[-1] for line in lines] == ["broker/mesh.py", "broker/core.py", "broker/__init__.py", "total"]
    assert total([GOOD, EMPTY]).percent == 99.0


def test_a_file_that_runs_in_processes_of_its_own_is_judged_by_the_tests_that_start_them() -> None:
    for path, tests in ELSEWHERE.items():
        assert faults([GOOD, Measured(path, 10, 8)]) == []
        assert (ROOT / path).exists()
        assert all((ROOT / test).exists() for test in tests.split(", "))
