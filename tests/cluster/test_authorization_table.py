"""The table of docs/authorization.md through every door: subscriptions, `last`, `history`, and the playlist service over HTTP."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from infra.kernel.access import Relation
from infra.kernel.topics import Kind
from infra.runtime.http.web_limits import WebLimits
from segue.cluster.role_spec import RoleOptions
from services.options import ServiceOptions
from tests.deploy.authorization_page import Case, cases
from tests.support.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.social_desk import SocialDesk
from tests.support.user import User

DEADLINE_S = 20.0
URIS = {
    Kind.USER: "hm://presence/user/ann/",
    Kind.PLAYLIST: "hm://playlist/user/ann/playlist/mix/",
    Kind.SOCIAL: "hm://notifications/feed/ann%friend-joined/",
    Kind.ARTIST: "hm://notifications/feed/bjork%new-album/",
    Kind.INBOX: "hm://notifications/inbox/ann/",
}
ASKERS = {
    "ann": Relation.SELF,
    "friend": Relation.FRIENDS,
    "fan": Relation.FOLLOWER,
    "idol": Relation.STRANGER,
    "nobody": Relation.STRANGER,
    "blocked": Relation.BLOCKED,
    "blocker": Relation.BLOCKED,
}


async def subscribed(c: Cluster, client: User, user: str, uri: str) -> bool:
    rejected = (await client.ask("subscribe", topics=[uri], wait="local"))["rejected"]
    if not rejected:
        await client.ask("unsubscribe", topics=[uri])
    return not rejected


async def last(c: Cluster, client: User, user: str, uri: str) -> bool:
    return bool((await client.ask("last", topics=[uri]))["events"])


async def history(c: Cluster, client: User, user: str, uri: str) -> bool:
    answer = await client.ask("history", topic=uri)
    return bool(answer["op"] == "history")


async def http(c: Cluster, user: str, method: str, path: str, body: Any = None) -> bool:
    status, answer = await c.request(user, method, "playlist", path, body)
    assert status < 300 or (status, answer["code"]) == (403, "forbidden"), answer
    return status < 300


async def doors(c: Cluster, case: Case, client: User, user: str) -> dict[str, bool]:
    """Returns door -> whether `user` gets in."""
    uri = URIS[case.kind]
    if case.is_edit:
        change = {"change": {"op": "add", "tracks": ["t"]}}
        return {"change": await http(c, user, "POST", "/v1/playlists/ann/mix/changes", change)}
    found = {"subscribe": await subscribed(c, client, user, uri)}
    if case.kind is Kind.USER:
        found["last"] = await last(c, client, user, uri)
        found["what ann follows"] = await http(c, user, "GET", "/v1/users/ann/followed")
    else:
        found["history"] = await history(c, client, user, uri)
    if case.kind is Kind.PLAYLIST:
        found["playlist"] = await http(c, user, "GET", "/v1/playlists/ann/mix")
        found["followers"] = await http(c, user, "GET", "/v1/playlists/ann/mix/followers")
        found["follow"] = await http(c, user, "PUT", "/v1/playlists/ann/mix/follow")
        _, page = await c.request(user, "GET", "playlist", "/v1/users/ann/playlists")
        found["list"] = bool(page["playlists"])
    return found


def patient(options: RoleOptions) -> RoleOptions:
    """Returns `options` of a service that takes as many requests of ann as the test sends."""
    if not isinstance(options, ServiceOptions):
        return options
    return msgspec.structs.replace(options, web=WebLimits(user_requests_per_s=1e5, user_burst=1e5))


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[tuple[Cluster, dict[str, User]]]:
    """Yields a cluster in which ann plays something and has a playlist, with a client of each of `ASKERS`."""
    whole = Cluster(sites=1, state=folder, services=("playlist", "social"), policy="social", change=patient)
    async with whole as c, AsyncExitStack() as stack:
        desk = SocialDesk(c.http, c.of("social")[0].address, c.token)
        await desk.befriend("ann", "friend")
        await desk.follow("fan", "ann")
        await desk.follow("ann", "idol")
        await desk.block("ann", "blocked")
        await desk.block("blocker", "ann")
        await c.until(lambda: c.of("accesspoint")[0].core.calls.has("social"))
        assert (await c.request("ann", "POST", "playlist", "/v1/playlists", {"id": "mix", "name": "Mix", "collaborative": True}))[0] == 201
        clients = {user: await stack.enter_async_context(c.user(user)) for user in ASKERS}
        assert (await clients["ann"].ask("act", kind="play", track="t"))["op"] == "ok"
        yield c, clients


async def sets(c: Cluster, case: Case) -> None:
    """Has ann set what the row of the table says."""

    async def say(method: str, path: str, body: Any = None) -> None:
        status, answer = await c.request("ann", method, "social", f"/v1/social{path}", body)
        assert status < 300, answer

    await say("PUT", "/privacy", {"listening": case.facts.listening})
    await say("PUT", "/playlists/mix", {"visibility": case.facts.visibility})
    for editor in ("somebody", *ASKERS):
        if editor != "ann":
            wanted = case.facts.is_editor or (case.has_editors and editor == "somebody")
            await say("PUT" if wanted else "DELETE", f"/playlists/mix/editors/{editor}")


async def agreed(c: Cluster, case: Case, client: User, user: str) -> None:
    """Waits until all doors answer `user` as the row of the table says. The access point hears of a setting over its link."""
    expected, found = case.verdict(ASKERS[user]) is None, dict[str, bool]()

    async def all_agree() -> bool:
        found.update(await doors(c, case, client, user))
        return set(found.values()) == {expected}

    await eventually(
        all_agree, lambda: f"{case.name}, {user}: {expected} is expected of all, not {found}", deadline_s=DEADLINE_S, poll_s=0.01
    )


async def test_every_row_of_the_table_is_what_happens_at_every_door(tmp_path: Path) -> None:
    """AUTH-1 to AUTH-7, AUTH-9: within a moment of each setting."""
    async with house(tmp_path) as (c, clients):
        for case in cases():
            await sets(c, case)
            for user in ASKERS:
                await agreed(c, case, clients[user], user)
