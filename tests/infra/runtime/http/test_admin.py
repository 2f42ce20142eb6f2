"""infra.runtime.http.admin: the four pages over real HTTP on a port of the loopback, and what bad requests get."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import aiohttp
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from infra.kernel.errors import ConfigError
from infra.runtime.http.admin import Admin
from infra.runtime.loop_lag import PERIOD_S, LoopLag
from infra.runtime.metrics import Metric, Value
from infra.runtime.stats import Stats

METRICS = (
    Metric("broker_links", "gauge", "Open links.", "links"),
    Metric("broker_events_rejected_total", "counter", "Events refused, by code.", "events", "code"),
)


@dataclass
class Small:
    """The smallest thing that is a role."""

    role: str = "broker"
    node: str = "b1"
    site: str = "sto"
    reason: str | None = None
    shown: Mapping[str, Value] = field(default_factory=lambda: {"broker_links": 3, "broker_events_rejected_total": {"bad-topic": 2}})

    def ready(self) -> str | None:
        return self.reason

    def counters(self) -> Mapping[str, Value]:
        return self.shown


class Broken(Small):
    """A role with a defect."""

    def counters(self) -> Mapping[str, Value]:
        raise ZeroDivisionError("secret detail")


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def test_healthz_answers_while_the_loop_turns(http: aiohttp.ClientSession) -> None:
    async with Admin([Small(reason="no links yet")], "127.0.0.1", 0) as admin, http.get(f"{admin.address}/healthz") as answer:
        assert (answer.status, await answer.json()) == (200, {"status": "ok"})


async def test_readyz_tells_for_each_role_why_it_is_not_ready(http: aiohttp.ClientSession) -> None:
    ready, waiting = Small(), Small(role="aggregator", node="a1", reason="no broker is linked")
    async with Admin([ready, waiting], "127.0.0.1", 0) as admin:
        async with http.get(f"{admin.address}/readyz") as answer:
            assert answer.status == 503
            assert await answer.json() == {
                "ready": False,
                "roles": [
                    {"role": "broker", "node": "b1", "site": "sto", "reason": None},
                    {"role": "aggregator", "node": "a1", "site": "sto", "reason": "no broker is linked"},
                ],
            }
        waiting.reason = None
        async with http.get(f"{admin.address}/readyz") as answer:
            assert (answer.status, (await answer.json())["ready"]) == (200, True)


async def test_metrics_are_prometheus_text_of_the_roles_and_the_process(http: aiohttp.ClientSession) -> None:
    async with Admin([Small()], "127.0.0.1", 0, METRICS) as admin, http.get(f"{admin.address}/metrics") as answer:
        assert answer.status == 200
        assert answer.content_type == "text/plain"
        families = {family.name: family for family in text_string_to_metric_families(await answer.text())}
    assert families["broker_links"].documentation == "Open links."
    (rejected,) = families["broker_events_rejected"].samples
    assert (rejected.labels, rejected.value) == ({"site": "sto", "node": "b1", "code": "bad-topic"}, 2.0)
    assert {"broker_links", "process_resident_memory_bytes", "process_loop_lag_seconds"} <= families.keys()


async def test_a_scraper_may_ask_for_open_metrics_and_for_single_names(http: aiohttp.ClientSession) -> None:
    headers = {"Accept": "application/openmetrics-text; version=1.0.0"}
    async with Admin([Small()], "127.0.0.1", 0, METRICS) as admin:
        async with http.get(f"{admin.address}/metrics", headers=headers) as answer:
            assert answer.content_type == "application/openmetrics-text"
            assert (await answer.text()).endswith("# EOF\n")
        async with http.get(f"{admin.address}/metrics", params={"name[]": "broker_links"}) as answer:
            assert [line for line in (await answer.text()).splitlines() if line[0] != "#"] == ['broker_links{node="b1",site="sto"} 3.0']


async def test_stats_are_one_document_with_the_process_and_every_role(http: aiohttp.ClientSession) -> None:
    roles = [Small(), Small(role="accesspoint", node="p1", site="lon", reason="draining")]
    async with Admin(roles, "127.0.0.1", 0) as admin, http.get(f"{admin.address}/v1/stats") as answer:
        assert (answer.status, answer.content_type) == (200, "application/json")
        stats = msgspec.json.decode(await answer.read(), type=Stats)
    assert stats.process.rss_bytes is not None
    assert stats.process.rss_bytes > 1e6
    assert stats.process.cpu_s > 0
    assert stats.process.uptime_s >= 0
    assert stats.process.open_fds
    assert [(role.role, role.node, role.site, role.not_ready) for role in stats.roles] == [
        ("broker", "b1", "sto", None),
        ("accesspoint", "p1", "lon", "draining"),
    ]
    assert stats.roles[0].counters == {"broker_links": 3, "broker_events_rejected_total": {"bad-topic": 2}}


async def test_the_doors_of_one_process_give_the_same_process_id(http: aiohttp.ClientSession) -> None:
    ids = []
    async with Admin([], "127.0.0.1", 0) as one, Admin([], "127.0.0.1", 0) as other:
        for admin in (one, other):
            async with http.get(f"{admin.address}/v1/stats") as answer:
                ids.append((await answer.json())["process"]["id"])
    assert ids[0] == ids[1]


async def test_a_role_that_joins_later_is_seen(http: aiohttp.ClientSession) -> None:
    roles: list[Small] = []
    async with Admin(roles, "127.0.0.1", 0) as admin:
        roles.append(Small())
        async with http.get(f"{admin.address}/v1/stats") as answer:
            assert len((await answer.json())["roles"]) == 1


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/", 404, "not-found"), ("GET", "/v1/stat", 404, "not-found"), ("POST", "/metrics", 405, "bad-method")],
)
async def test_a_wrong_request_gets_a_code_of_the_table_and_a_hint(
    http: aiohttp.ClientSession, method: str, path: str, status: int, code: str
) -> None:
    async with Admin([], "127.0.0.1", 0) as admin, http.request(method, admin.address + path) as answer:
        assert (answer.status, answer.content_type) == (status, "application/json")
        body = await answer.json()
    assert body["code"] == code
    assert path in body["reason"]
    assert status != 405 or answer.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/metrics", "/v1/stats"])
async def test_a_defect_in_a_role_is_logged_and_answered_without_details(
    http: aiohttp.ClientSession, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Admin([Broken()], "127.0.0.1", 0) as admin:
        with caplog.at_level(logging.ERROR, logger="infra.runtime.http.admin"):
            async with http.get(admin.address + path) as answer:
                assert answer.status == 500
                body = await answer.text()
        assert '"internal-error"' in body
        assert "secret" not in body
        assert "secret detail" in caplog.text
        async with http.get(f"{admin.address}/healthz") as answer:
            assert answer.status == 200


async def test_an_address_in_use_is_an_error_that_says_what_to_do() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{port} .*port 0"):
            async with Admin([], "127.0.0.1", port):
                pass


async def test_leaving_the_block_closes_the_port_and_ends_all_timers(http: aiohttp.ClientSession) -> None:
    before = asyncio.all_tasks()
    async with Admin([], "127.0.0.1", 0) as admin:
        address = admin.address
        assert address.startswith("http://127.0.0.1:")
        assert not address.endswith(":0")
    with pytest.raises(aiohttp.ClientConnectorError):
        await http.get(f"{address}/healthz")
    assert asyncio.all_tasks() == before
    with pytest.raises(RuntimeError, match="async with"):
        _ = admin.address


async def test_an_ipv6_address_is_a_url_too() -> None:
    async with Admin([], "::1", 0) as admin:
        assert admin.address.startswith("http://[::1]:")


class SteppedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock the test moves."""

    now_s = 100.0

    def time(self) -> float:
        return self.now_s


def test_loop_lag_is_the_longest_delay_of_the_window() -> None:
    loop = SteppedLoop()
    lag = LoopLag()

    async def stall() -> float:
        lag.start()
        loop.now_s += PERIOD_S + 0.5
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        lag.stop()
        lag.stop()
        return lag.worst_s()

    assert lag.worst_s() == 0.0
    try:
        assert loop.run_until_complete(stall()) == pytest.approx(0.5)
    finally:
        loop.close()
