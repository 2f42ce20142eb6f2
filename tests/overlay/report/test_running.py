"""The running of studies, in this process and in others."""

from pathlib import Path

import pytest

from overlay.report import kept_results
from overlay.report.running import run_studies
from tests.support.made_studies import COUNTING, FAILING


def run(place: Path, *, processes: int = 1, resume: bool = False) -> tuple[list[str], list[tuple[str, str]]]:
    """Returns the keys of what was answered, and what was told."""
    heard: list[tuple[str, str]] = []
    found = run_studies([COUNTING], "tiny", 3, processes=processes, resume=resume, told=lambda *said: heard.append(said), place=place)
    assert [each.result.table("some-counts").rows[0] for each in found] == [("one", 3, 0)]
    return [each.study.key for each in found], heard


def test_a_study_tells_what_it_does_and_that_it_has_ended_and_its_result_is_kept(tmp_path: Path) -> None:
    keys, heard = run(tmp_path)
    assert keys == ["counting"]
    assert set(heard) == {("counting", "counting"), ("counting", "")}
    assert kept_results.get(COUNTING, "tiny", 3, tmp_path) is not None


def test_who_resumes_takes_what_is_kept_and_who_does_not_runs_it_again(tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, resume=True)[1] == [("counting", "")]
    assert ("counting", "counting") in run(tmp_path)[1]


def test_a_broken_off_report_keeps_the_studies_that_had_ended(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing can be found"):
        run_studies([COUNTING, FAILING], "tiny", 3, processes=1, resume=False, told=lambda *_: None, place=tmp_path)
    assert kept_results.get(COUNTING, "tiny", 3, tmp_path) is not None


def test_other_processes_find_the_same_and_are_heard(tmp_path: Path) -> None:
    """OV-2: any number of processes."""
    heard: list[tuple[str, str]] = []
    same = [COUNTING, COUNTING._replace(key="again")]
    found = run_studies(same, "tiny", 3, processes=2, resume=False, told=lambda *said: heard.append(said), place=tmp_path)
    alone = run_studies(same, "tiny", 3, processes=1, resume=False, told=lambda *_: None, place=tmp_path)
    assert found == alone
    assert {("counting", "counting"), ("again", "counting"), ("counting", ""), ("again", "")} == set(heard)
