"""`segue ring`, against a whole cluster in this process."""

import asyncio
import json
import re
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli
from tests.support.cluster import Cluster

LOG_LINE: Final = re.compile(r"\d{4}-\d\d-\d\d ")


async def segue_ring(c: Cluster, state: Path, *arguments: str) -> tuple[int, str]:
    """Runs a command against a broker of each site. Returns its exit code and what it prints, without what brokers log meanwhile."""
    urls = [part for site in c.sites for part in ("--url", f"http://{c.of('broker', site)[0].address}")]
    found = await asyncio.to_thread(CliRunner().invoke, cli, ["ring", *arguments, *urls, "--state", str(state)])
    return found.exit_code, "".join(line for line in found.output.splitlines(keepends=True) if not LOG_LINE.match(line))


async def test_a_broker_is_drained_at_each_site_and_taken_in_again(state: Path) -> None:
    """DPS-15: plan, run, run again, status."""
    file = state / "plan.json"
    async with Cluster(sites=2, brokers=3) as c, c.user("ann", "lon") as ann:
        await ann.follow("dan", "eve", "fay")
        code, out = await segue_ring(c, state, "plan", "--drain", "b2", "--output", str(file))
        assert (code, "b2 256 -> 0" in out, "lon" in out) == (0, True, True)
        assert [each["site"] for each in json.loads(file.read_text())["rounds"]] == ["sto", "lon"]
        code, out = await segue_ring(c, state, "run", str(file), "--max-lag", "60")
        assert (code, out.splitlines()) == (0, ["sto: on the way", "sto: done", "lon: on the way", "lon: done"])
        assert {broker.view().share_of["b2"] for broker in c.of("broker")} == {0}
        assert await segue_ring(c, state, "run", str(file)) == (0, "sto: done before\nlon: done before\n")
        code, out = await segue_ring(c, state, "status", "--json")
        assert [each["slots"][1] for each in json.loads(out)] == [{"slot": "b2", "share": 0, "goal": 0, "done": True}] * 2
        code, out = await segue_ring(c, state, "plan", "--add", "b2", "--gentle", "--output", str(file))
        assert "b2 0 -> 256" in out
        assert (await segue_ring(c, state, "run", str(file), "--max-lag", "60"))[0] == 0
        await c.settle()
        assert all(not broker.view().shares for broker in c.of("broker"))
        assert "nothing to do" in (await segue_ring(c, state, "plan", "--add", "b2", "--output", str(file)))[1]


async def test_what_is_aborted_stays_where_it_is(state: Path) -> None:
    """DPS-15."""
    async with Cluster(sites=1, brokers=3) as c:
        assert (await c.operate("POST", "/v1/ring", {"site": "sto", "goal": {"b2": 0}, "before": dict.fromkeys(("b1", "b2", "b3"), 256)}))[
            0
        ] == 200
        code, out = await segue_ring(c, state, "abort")
        assert (code, "b2" in out) == (0, True)
        assert c.of("broker")[0].view().is_there
        assert "256" in (await segue_ring(c, state, "status"))[1]


async def test_a_plan_for_slots_that_do_not_exist_and_a_file_that_is_none_are_refused(state: Path) -> None:
    async with Cluster(sites=1, brokers=2) as c:
        code, out = await segue_ring(c, state, "plan", "--add", "b9", "--output", str(state / "plan.json"))
        assert (code, "there is no slot b9 at sto; there are b1, b2" in out) == (1, True)
        assert not (state / "plan.json").exists()
        for content in ("{}", "no json", '{"form": 2, "rounds": []}'):
            (state / "plan.json").write_text(content)
            code, out = await segue_ring(c, state, "run", str(state / "plan.json"))
            assert (code, "is no plan of segue ring plan" in out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["plan", "--add", "b4,,b5"], "has an empty name"),
        (["run", "nowhere.json"], "nowhere.json"),
        (["run", __file__, "--max-lag", "nan"], "not a finite number"),
        (["status", "--url", "http://127.0.0.1:1"], "start `segue up` first"),
    ],
)
def test_what_cannot_be_meant_is_explained(arguments: list[str], complaint: str, state: Path) -> None:
    result = CliRunner().invoke(cli, ["ring", *arguments, "--state", str(state)])
    assert result.exit_code != 0
    assert complaint in result.output
