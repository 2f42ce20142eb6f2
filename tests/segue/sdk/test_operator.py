"""The operator's SDK and what clients of the SDK make of operators, against a whole cluster in this process (DPS-28)."""

import asyncio

import pytest

from segue.sdk.client import Client
from segue.sdk.client_state import Phase, State
from segue.sdk.errors import ConnectionLost, Misuse, Refused
from segue.sdk.messages import Announcement
from segue.sdk.operator import Operator
from tests.support.cluster import Cluster
from tests.support.samples import service_token
from tests.support.too_much import too_much
from tests.support.user import feed


def operator_of(c: Cluster, service: str = "operator") -> Operator:
    """Returns an operator whose first broker is not there."""
    return Operator(["http://127.0.0.1:1", f"http://{c.of('broker')[0].address}"], service_token(service))


def client_of(c: Cluster, user: str, site: str = "sto", **others: object) -> Client:
    return Client(f"ws://{c.of('accesspoint', site)[0].address}", c.token(user), **others)  # type: ignore[arg-type]


async def test_a_client_that_is_disconnected_comes_back_and_one_that_is_to_stay_away_does_not() -> None:
    """The code `disconnected` lets clients come back, unless the operator does not."""
    async with Cluster(sites=2) as c, operator_of(c) as operator:
        states: asyncio.Queue[State] = asyncio.Queue()
        async with client_of(c, "ann", "lon", on_state=states.put_nowait) as ann:
            await ann.subscribe(feed("dan"))
            found = await operator.sessions("ann")
            assert [(each.site, each.topics) for each in found.listed] == [("lon", (feed("dan"),))]
            assert (await operator.disconnect(session=found.listed[0].session)).sessions == 1
            phases = [(await states.get()).phase for _ in range(2)]
            while phases[-1] is not Phase.CONNECTED or len(phases) < 3:
                phases.append((await states.get()).phase)
            assert (await operator.disconnect(user="ann", may_return=False)).sessions == 1
            with pytest.raises(Refused, match="do not come back") as refused:
                await anext(ann)
            assert refused.value.code.name == "disconnected"


async def test_revoked_and_banned_end_a_client_for_good_with_a_clear_error() -> None:
    """DPS-28: token-revoked and banned: no reconnect."""
    async with Cluster(sites=1) as c, operator_of(c) as operator, client_of(c, "ann") as ann, client_of(c, "bob") as bob:
        await operator.revoke(user="ann")
        await operator.ban("bob", seconds=60)
        for client, code in ((ann, "token-revoked"), (bob, "banned")):
            with pytest.raises(Refused) as refused:
                await anext(client)
            assert refused.value.code.name == code
        assert [each.user async for each in operator.bans()] == ["bob"]
        assert [(each.kind, each.name) async for each in operator.revocations()] == [("user", "ann")]
        assert (await operator.unban("bob")).ban is None
        assert [each async for each in operator.bans()] == []


async def test_an_application_hears_announcements() -> None:
    heard: asyncio.Queue[Announcement] = asyncio.Queue()
    async with Cluster(sites=1) as c, operator_of(c) as operator, client_of(c, "ann", on_announcement=heard.put_nowait):
        assert (await operator.announce("down at noon", {"at": 12})).sessions == 1
        said = await heard.get()
        assert (said.text, said.data) == ("down at noon", {"at": 12})


async def test_long_lists_come_page_by_page() -> None:
    async with Cluster(sites=1) as c, operator_of(c) as operator:
        names = [f"t{n:04}" for n in range(1001)]
        for first in range(0, len(names), 100):
            await asyncio.gather(*(operator.revoke(jti=name) for name in names[first : first + 100]))
        assert [each.name async for each in operator.revocations()] == names


async def test_the_ring_of_a_site_is_changed_and_stays_where_it_is() -> None:
    async with Cluster(sites=1, brokers=2) as c, operator_of(c) as operator:
        before = await operator.ring()
        assert (before.site, before.goal_of, before.configured) == ("sto", {"b1": 256, "b2": 256}, ("b1", "b2"))
        changed = await operator.change_ring("sto", {"b2": 0}, before.goal_of)
        assert changed.goal_of == {"b1": 256, "b2": 0}
        assert not changed.is_there
        with pytest.raises(Refused, match="look again") as refused:
            await operator.change_ring("sto", {"b1": 0}, before.goal_of)
        assert refused.value.code.name == "conflict"
        stopped = await operator.stop_ring("sto")
        assert stopped.goal_of == stopped.share_of
        await c.until(lambda: c.of("broker")[0].mesh.membership.done() == {"b1", "b2"})
        assert (await operator.ring()).is_there


async def test_whoever_is_no_operator_is_refused_and_misuse_is_explained() -> None:
    async with Cluster(sites=1) as c:
        async with operator_of(c, "presence") as presence:
            with pytest.raises(Refused, match="this is for operators"):
                await presence.sessions("ann")
        with pytest.raises(Misuse, match="not open"):
            await presence.sessions("ann")


async def test_an_answer_without_an_end_is_not_read_to_its_end() -> None:
    async with too_much() as url, Operator(url, "x") as operator:
        with pytest.raises(ConnectionLost, match="more than 16777216 bytes; is there something else"):
            await operator.sessions("ann")
