"""A small site with a bystander, who must not notice what others do there."""

import io
import time
from collections.abc import AsyncIterable, Callable
from typing import Any, Self

import msgspec

from accesspoint.bearer import Verify
from accesspoint.options import AccessPointOptions
from accesspoint.server import AccessPoint
from infra.runtime.tokens import AuthOptions, Keys, Verifier, issue
from segue.cluster.role_spec import RoleOptions

from .cluster import SECRET
from .made_cluster import MadeCluster
from .raw_client import RawClient
from .user import User


def points(**fields: Any) -> Callable[[RoleOptions], RoleOptions]:
    """Returns a change of a cluster's options: access points with these fields."""

    def change(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, **fields) if isinstance(options, AccessPointOptions) else options

    return change


class Watched:
    """`async with Watched() as place:` one site, where a bystander hears every play of dan, before, during (`undisturbed`)
    and after whatever the test does to the same access point and broker."""

    def __init__(self, *, point: dict[str, Any] | None = None, verify: Verify | None = None, **cluster: Any) -> None:
        """Describes the cluster; entering it starts it. `point`: options of the access points that are not as usual.

        `cluster`: see `Cluster`.
        """
        check = verify or Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None).client
        self.cluster = MadeCluster(
            AccessPointOptions,
            lambda options, context: AccessPoint(options, context, check),
            {"now": self.now_s},
            **{"sites": 1, "change": points(**(point or {})), **cluster},
        )
        self.plays = 0
        self.bystander: User
        self._ahead_s = 0.0
        self._stopped_s: float | None = None

    async def __aenter__(self) -> Self:
        await self.cluster.__aenter__()
        self.point = self.cluster.of("accesspoint")[0]
        self.door = self.cluster.of("broker")[0]
        self.bystander = await self.cluster.user("bystander").__aenter__()
        await self.bystander.follow("dan")
        await self.undisturbed()
        return self

    async def __aexit__(self, kind: object, *exc: object) -> None:
        try:
            if kind is None:
                await self.undisturbed()
        finally:
            await self.bystander.__aexit__()
            await self.cluster.__aexit__(kind, *exc)

    async def undisturbed(self) -> None:
        """Checks that the bystander gets the next event, has missed none so far and was told nothing else."""
        self.plays += 1
        await self.cluster.play("dan", n=self.plays)
        events = await self.bystander.heard(self.plays)
        assert [event["payload"]["n"] for event in events] == list(range(1, self.plays + 1))
        assert [event["seq"] for event in events] == [events[0]["seq"] + n for n in range(self.plays)]
        assert not any("skipped" in event for event in events)
        assert (self.bystander.answers, self.bystander.closed) == ([], None)

    def now_s(self) -> float:
        """Returns the time of the access point."""
        return time.monotonic() + self._ahead_s if self._stopped_s is None else self._stopped_s

    def stop_clock(self, at_s: float | None) -> None:
        """Stops the time of the access point at `at_s`; with None it goes on."""
        self._stopped_s = at_s

    def later(self, seconds: float) -> None:
        """Lets so much time pass for the access point, which then looks at every session."""
        self.at(self.point.now() + seconds)

    def at(self, now_s: float) -> None:
        """Makes it `now_s` for the access point, which then looks at every session."""
        self._ahead_s += now_s - self.point.now()
        for _ in range(2 * len(self.point.core.sessions) + 2):
            self.point.sweep(self.point.now())

    def session(self, user: str) -> Any:
        """Returns what the access point knows of a user's only connection."""
        (found,) = [each for each in self.point.core.sessions if each.user == user]
        return found

    def client(self, **fields: Any) -> RawClient:
        """Returns a client at the same access point; a context manager."""
        return RawClient(self.point.address, **{"tls": self.cluster.tls, **fields})

    def token(self, user: str) -> str:
        """Returns a client's token."""
        return self.cluster.token(user)

    async def post(self, body: bytes | AsyncIterable[bytes], content_type: str = "application/json", **headers: str) -> tuple[int, Any]:
        """Publishes these very bytes, or a stream of them, as the presence service; returns status and JSON."""
        token = issue(SECRET, service="presence", ttl_s=600, now_s=time.time())
        headers = {"Authorization": f"Bearer {token}", "Content-Type": content_type} | headers
        data = io.BytesIO(body) if isinstance(body, bytes) else body
        async with self.cluster.http.post(self.cluster.url(self.door, "/v1/events"), data=data, headers=headers) as answer:
            return answer.status, await answer.json()
