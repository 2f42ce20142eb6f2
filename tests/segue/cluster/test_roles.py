"""The registry of roles: it says the truth of each role, and nothing else has to know that there is a new one."""

import random
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from infra.kernel import roles as names
from infra.runtime.http.admin import Admin
from segue.cli.role import command
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.process_file import read
from segue.cluster.role_spec import RoleSpec
from segue.cluster.roles import ROLES, in_start_order, metrics_of, role_of
from segue.cluster.shape import STORING, Shape
from tests.deploy import metrics_page
from tests.support.echo_role import ECHO, EchoOptions

EVERY = pytest.mark.parametrize("spec", ROLES.values(), ids=ROLES)


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROLES, ECHO.name, ECHO)


def test_every_name_of_a_role_has_an_entry() -> None:
    assert {value for name, value in vars(names).items() if name.isupper()} == ROLES.keys()


@EVERY
def test_an_entry_makes_a_role_from_the_options_that_it_names(spec: RoleSpec[Any]) -> None:
    assert spec.make.__annotations__["options"] == spec.options.get().__name__


@EVERY
def test_an_entry_is_true_to_the_options_of_its_role(spec: RoleSpec[Any]) -> None:
    fields = set(spec.options.get().__struct_fields__)
    assert spec.captures == ("capture" in fields)
    assert spec.checks_tokens == ("door" in fields)
    assert spec.notifies == ({"notification", "door"} <= fields)
    assert spec.shares_door == ("reuse_port" in fields)


@EVERY
def test_metrics_begin_with_the_name_of_their_role(spec: RoleSpec[Any]) -> None:
    assert {metric.name.partition("_")[0] for metric in spec.metrics.get()} == {spec.name}


async def test_an_entry_says_whether_its_role_drains(tmp_path: Path) -> None:
    factory = RoleFactory.local(secrets.token_bytes(32), random.Random(1))
    made = [factory.make(each) for each in everything(tmp_path)]
    assert {role.role: hasattr(role, "drain") for role in made} == {name: spec.drains for name, spec in ROLES.items()}
    for role in made:
        await role.close()


def everything(folder: Path) -> list[Any]:
    """Returns the options of one node of each role."""
    from analytics.offloading.plan import PlanOptions

    return list(Shape(notification=1, services=tuple(STORING), decision=PlanOptions(), state=folder).options())


def test_services_start_after_the_modules_that_they_notify_and_access_points_last(tmp_path: Path) -> None:
    options = everything(tmp_path)
    random.Random(1).shuffle(options)
    order = [role_of(each) for each in in_start_order(options)]
    assert order == list(ROLES)
    assert (order[0], order[-1]) == ("broker", "accesspoint")
    assert all(order.index("notification") < order.index(name) for name, spec in ROLES.items() if spec.notifies)


def test_what_are_options_of_no_role_are_refused() -> None:
    with pytest.raises(LookupError, match="EchoOptions are options of no role"):
        role_of(EchoOptions(site="sto", node="e1"))


@pytest.mark.usefixtures("echo")
async def test_a_process_runs_a_new_role_without_knowing_it() -> None:
    factory = RoleFactory.local(secrets.token_bytes(32), random.Random(1))
    options = [EchoOptions(site="sto", node="e1"), *Shape().options()]
    async with Process(factory, options) as process:
        (echo,) = process.of("echo")
        assert [each.role for each in process.roles] == ["broker", "presence", "aggregator", "accesspoint", "echo"]
        await process.drain()
    assert echo.steps == ["start", "drain", "close"]


@pytest.mark.usefixtures("echo")
def test_a_configuration_file_may_have_the_table_of_a_new_role(tmp_path: Path) -> None:
    path = tmp_path / "echo.toml"
    path.write_text('[echo]\nsite = "sto"\nnode = "e1"\n')
    _, options = read(path, "echo", {"echo.volume": "11"})
    assert options == EchoOptions(site="sto", node="e1", volume=11)


@pytest.mark.usefixtures("echo")
async def test_the_admin_door_and_the_page_of_metrics_describe_a_new_role() -> None:
    assert "## echo" in metrics_page.render()
    factory = RoleFactory.local(secrets.token_bytes(32), random.Random(1))
    async with Process(factory, [EchoOptions(site="sto", node="e1")]) as process, aiohttp.ClientSession() as http:
        async with Admin(process.roles, "127.0.0.1", 0, metrics_of(["echo"])) as admin, http.get(f"{admin.address}/metrics") as answer:
            assert "# HELP echo_calls_total Calls that came back." in await answer.text()


@pytest.mark.usefixtures("echo")
def test_a_new_role_has_a_command_with_its_help() -> None:
    help = command("echo").help
    assert help is not None
    assert help.startswith("Run an echo, which calls back.")
    assert "[echo]" in help


def test_the_list_of_commands_shows_a_new_role() -> None:
    add = "from segue.cluster.roles import ROLES; from tests.support.echo_role import ECHO; ROLES['echo'] = ECHO"
    code = f"{add}; from segue.cli.command_line import cli; cli(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "  echo          Run an echo, which calls back\n" in done.stdout


def test_a_process_imports_the_roles_that_it_runs_and_no_other() -> None:
    code = """\
import asyncio, random, sys
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.roles import role_of
from segue.cluster.shape import Shape

async def main():
    options = [each for each in Shape().options() if role_of(each) == "aggregator"]
    async with Process(RoleFactory.local(b"x" * 32, random.Random(1)), options):
        print(*(name for name in sys.modules if name.endswith(".server") and name != "http.server" or name == "numpy"))

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["aggregator.server"]
