"""`segue plan`: what it prints, writes and refuses."""

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from analytics.errors import TraceError
from analytics.generator.job import generate
from analytics.generator.profile import profile
from analytics.planning.errors import PlanError
from segue.cli.plan.command import plan
from tests.support.traces import BARE, ring, write


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a trace of Spotify's shape at a thousandth of the size."""
    folder = tmp_path_factory.mktemp("plan") / "trace"
    generate(folder, profile("spotify", 0.001, 1), publications=20_000, sessions=0, processes=1, progress=lambda *_: None)
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(plan, list(map(str, arguments)), env={"COLUMNS": "300"})


def test_satisfaction_prints_each_value_with_its_bounds_and_writes_a_page(trace: Path, tmp_path: Path) -> None:
    """WA-45, and item 6 of what is asked: what more capacity brings."""
    numbers = tmp_path / "numbers.json"
    result = run("satisfaction", trace, "--windows", 2, "--online", "--out", tmp_path / "out", "--json", numbers)

    assert result.exit_code == 0, result.output
    for words in ("Solutions and their bounds", "Greedy: published and here", "Hour by hour", "Online", "10 % more capacity"):
        assert words in result.output
    assert (tmp_path / "out" / "satisfaction.html").exists()
    found = json.loads(numbers.read_bytes())
    assert len(found["runs"]) == 2 * 3 * 3
    for each in found["runs"]:
        assert each["cost"] <= found["capacity"]
        assert each["value"] <= each["best_bound"] <= each["bound"]


def test_the_exact_optimum_of_a_small_trace_is_the_best_bound_of_the_others(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json"
    trace = ring(tmp_path / "trace", 12)
    asked = ("--algorithm", "greedy", "--algorithm", "exact", "--threshold", "100%", "--capacity", "50%")
    result = run("satisfaction", trace, *asked, "--out", tmp_path, "--json", numbers)
    assert result.exit_code == 0, result.output
    runs = {(each["metric"], each["algorithm"]): each for each in json.loads(numbers.read_bytes())["runs"]}
    for metric in ("b3m", "fb3m"):
        assert runs[metric, "greedy"]["value"] <= runs[metric, "exact"]["value"]
        assert runs[metric, "exact"]["best_ratio"] == 1.0


def test_greedy_beats_the_rule_that_offloads_quiet_topics_and_ours_beats_greedy(trace: Path, tmp_path: Path) -> None:
    """WA-30."""
    numbers = tmp_path / "numbers.json"
    run("satisfaction", trace, "--threshold", 276, "--out", tmp_path, "--json", numbers)
    values = {(each["metric"], each["algorithm"]): each["value"] for each in json.loads(numbers.read_bytes())["runs"]}
    for metric in ("b3m", "fb3m"):
        assert values[metric, "cuckoo"] < values[metric, "greedy"] <= values[metric, "improved"]


def test_provision_prints_each_bill_with_both_bounds_and_names_the_cheapest_machine(trace: Path, tmp_path: Path) -> None:
    """WA-42, WA-45."""
    numbers = tmp_path / "numbers.json"
    result = run(
        "provision", trace, "--threshold", 10, "--capacity-s", 36, "--capacity-s", 3600, "--out", tmp_path / "out", "--json", numbers
    )

    assert result.exit_code == 0, result.output
    for words in (
        "c3.large, capacity of 36 s",
        "c3.xlarge, capacity of 3,600 s",
        "All machines of the price book",
        "In short: the cheapest",
    ):
        assert words in result.output
    assert (tmp_path / "out" / "provision.html").exists()
    for each in json.loads(numbers.read_bytes())["plans"]:
        assert each["bound_usd"] <= each["best_bound_usd"] <= each["usd"]


def test_from_the_plan_of_the_same_trace_nothing_moves(trace: Path, tmp_path: Path) -> None:
    """WA-43: a re-run tells how many pairs move."""
    numbers = tmp_path / "numbers.json"
    result = run("provision", trace, "--before", trace, "--capacity-s", 3.6, "--out", tmp_path / "out", "--json", numbers)
    assert result.exit_code == 0, result.output
    assert "From the plan of before" in result.output
    found = json.loads(numbers.read_bytes())["moves"]
    assert len(found) == 6
    assert all(each["pairs"] > 0 == each["moved"] for each in found)


@pytest.mark.parametrize("command", ["satisfaction", "provision"])
def test_what_cannot_be_written_is_told_by_name_before_the_work(tmp_path: Path, command: str) -> None:
    trace, file = ring(tmp_path / "t", 5), tmp_path / "file"
    file.touch()
    for option, path in (("--json", tmp_path / "none" / "numbers.json"), ("--out", file / "folder")):
        result = run(command, trace, option, path)
        assert result.exit_code == 2
        assert f"'{option}'" in result.output
        assert str(path) in result.output
        assert "threshold" not in result.output


def test_the_capacity_of_hours_is_the_share_that_was_asked_for(trace: Path, tmp_path: Path) -> None:
    """A number of deliveries is a share of what serving all takes, as a share is."""
    numbers = tmp_path / "numbers.json"
    arguments = "satisfaction", trace, "--metric", "fb3m", "--algorithm", "greedy", "--threshold", 5, "--windows", 2, "--online"
    assert run(*arguments, "--capacity", "30%", "--out", tmp_path, "--json", numbers).exit_code == 0
    by_share = json.loads(numbers.read_bytes())
    result = run(*arguments, "--capacity", by_share["capacity"], "--out", tmp_path, "--json", numbers)
    by_number = json.loads(numbers.read_bytes())
    windows = [each["value"] for each in by_share["windows"] if each["capacity_share"] == 0.3]
    assert [[each["fresh"] for each in found["online"]] for found in (by_share, by_number)] == [windows, windows]
    assert "Threshold 20, as in the thesis; the capacity is 30.0 %" in result.output


def test_the_page_goes_beside_the_trace(tmp_path: Path) -> None:
    assert run("provision", ring(tmp_path / "small", 6), "--hours", 240).exit_code == 0
    assert (tmp_path / "small-plan" / "provision.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("satisfaction", "--threshold", "0"), "0: must be a whole number above 0, or a share above 0 as 10%"),
        (("satisfaction", "--threshold", "-1%"), "-1%: must be"),
        (("satisfaction", "--capacity", "0"), "0: must be"),
        (("satisfaction", "--capacity", "nan%"), "nan%: must be"),
        (("satisfaction", "--capacity", "much"), "much: must be"),
        (("satisfaction", "--metric", "best"), "'best' is not one of"),
        (("satisfaction", "--online"), "say how many with --windows"),
        (("satisfaction", "--online", "--windows", "1"), "2 or more"),
        (("provision", "--threshold", "0"), "0 is not in the range x>=1"),
        (("provision", "--capacity-s", "0"), "0.0 is not in the range x>0"),
        (("provision", "--hours", "-1"), "-1.0 is not in the range x>0"),
        (("provision", "--prices", "ec2-2031"), "there is no price book 'ec2-2031'; did you mean"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_with_what_would(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    command, *options = arguments
    result = run(command, ring(tmp_path / "t", 5), *options)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("satisfaction", "--capacity", "1"), "the capacity is 1 deliveries, and the cheapest topic takes 3"),
        (("provision", "--machine", "c9.huge"), "there is no machine 'c9.huge' in the price book ec2-2013; it has c3.large, c3.xlarge"),
        (("provision", "--hours", "1", "--capacity-s", "0.00001"), "c3.large can carry 0 events"),
    ],
)
def test_what_cannot_be_planned_is_told_in_a_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    command, *options = arguments
    error = run(command, ring(tmp_path / "t", 5), *options).exception
    assert isinstance(error, PlanError)
    assert message in str(error)


def test_a_trace_without_times_needs_hours(tmp_path: Path) -> None:
    about = msgspec.structs.replace(BARE, start_ms=None, end_ms=None)
    pairs = {"subscriber": [1], "service": ["presence"], "topic": [2]}
    path = write(tmp_path / "t", about, subscriptions=pairs, counts={"service": ["presence"], "topic": [2], "events": [3]})
    error = run("provision", path).exception
    assert isinstance(error, PlanError)
    assert "say how long its period is (--hours)" in str(error)


@pytest.mark.parametrize("command", ["satisfaction", "provision"])
def test_a_trace_that_is_none_or_empty_is_told_and_nothing_is_made(tmp_path: Path, command: str) -> None:
    write(tmp_path / "empty", BARE)
    for name, message in (("none", "there is no such folder"), ("empty", "has no publications")):
        error = run(command, tmp_path / name).exception
        assert isinstance(error, TraceError)
        assert message in str(error)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]
