"""The HTTP handlers of the notification module: intake for services, settings for users, dead letters for operators.

`docs/openapi-notification.json` describes it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Final

import msgspec

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.http_error import rejection
from infra.kernel.http_headers import PAGE
from infra.kernel.json_text import typed
from infra.runtime.http.web import Answer, Request, Route
from rule_engine import preferences as prefs
from rule_engine.facts import CLASSES
from rule_engine.preferences import Preferences

from . import unsubscribe, unsubscribe_page
from .changes import MAX_MARK
from .feed import Feed, PullQuery
from .intake import Intake, Receipt
from .module_context import ModuleContext
from .notice import Header, NoticeRequest, Page
from .ownership.routes import Routes
from .push import Pusher, Subscription
from .store import Device
from .why import Why

NDJSON: Final = "application/x-ndjson"
# A page of a thousand long names, or a header with a large payload.
MAX_LINE_BYTES: Final = 256 << 10
# So that all of them are answered before the sender takes the answer for lost.
MAX_NOTICES: Final = 1000
# A thousand muted playlists with the longest names.
MAX_PREFERENCES_BYTES: Final = 320 << 10
MAX_DEVICES: Final = 20
MAX_DEAD: Final = 500
SIDE_BY_SIDE: Final = 16
# A stream of which nothing comes is looked at so often: whoever sends it may have lost the right to.
CHECKED_S: Final = 1.0


class NewDevice(msgspec.Struct, frozen=True):
    """The body that makes a device known: what a browser's `PushSubscription.toJSON()` gives; more fields are ignored."""

    endpoint: str
    keys: dict[str, str]


class NotificationHandlers:
    """The handlers of all paths.

    - `module`: the store and the clock.
    - `intake`, `feed`, `why`: do what is asked for.
    - `routes`: tells the owner of a user about new preferences and devices.
    - `secret`: signs unsubscribe links.
    - `pusher`: has the key that browsers need; None where no pushes are sent.
    """

    def __init__(
        self, module: ModuleContext, intake: Intake, feed: Feed, why: Why, routes: Routes, secret: bytes, pusher: Pusher | None
    ) -> None:
        self._store, self._wall, self._secret, self._pusher = module.store, module.context.wall, secret, pusher
        self._intake, self._feed, self._why, self._routes = intake, feed, why, routes

    def routes(self) -> list[Route]:
        """Returns the routes of all paths."""
        return [
            Route("POST", "/v1/notifications", "service", self._take, max_body_bytes=None),
            Route("GET", "/v1/me/notifications", "user", self._pull),
            Route("GET", "/v1/me/preferences", "user", self._preferences),
            Route("PUT", "/v1/me/preferences", "user", self._prefer, max_body_bytes=MAX_PREFERENCES_BYTES),
            Route("GET", "/v1/me/devices", "user", self._devices),
            Route("POST", "/v1/me/devices", "user", self._add_device),
            Route("DELETE", "/v1/me/devices", "user", self._remove_device),
            Route("GET", "/v1/me/why/{event}", "user", self._explain),
            Route("GET", "/v1/push-key", "nobody", self._key),
            Route("GET", "/v1/unsubscribe/{token}", "nobody", self._ask_unsubscribe),
            Route("POST", "/v1/unsubscribe/{token}", "nobody", self._unsubscribe),
            Route("GET", "/v1/dead-letters", "operator", self._dead),
            Route("POST", "/v1/dead-letters/{key}/replay", "operator", self._replay, audited="replay of a dead letter"),
        ]

    # Intake.

    async def _take(self, request: Request) -> Answer:
        if request.raw.content_type == NDJSON:
            return Answer(202, await self._take_stream(request))
        text = await request.json_bytes()
        if text.lstrip()[:1] != b"[":
            return Answer(202, await self._intake.take(typed(text, NoticeRequest), request.service))
        return Answer(202, await self._take_all(typed(text, list[msgspec.Raw]), request.service))

    async def _take_all(self, texts: list[msgspec.Raw], service: str) -> dict[str, object]:
        """Takes each notice for itself: what is wrong with one harms no other. Several are stored side by side, begun in their order.

        Raises `Refused("too-large")` for too many; then none is stored.
        """
        if len(texts) > MAX_NOTICES:
            raise Refused("too-large", f"an array of {len(texts)} notices; send at most {MAX_NOTICES} at once, none of these was taken")
        slots = asyncio.Semaphore(SIDE_BY_SIDE)

        async def take(text: msgspec.Raw) -> Receipt | Refused:
            async with slots:
                try:
                    return await self._intake.take(typed(bytes(text), NoticeRequest), service)
                except Refused as refused:
                    return refused
                except Unavailable as trouble:
                    return Refused("unavailable", str(trouble))

        answers = await asyncio.gather(*map(take, texts))
        rejected = [rejection(index, refused) for index, refused in enumerate(answers) if isinstance(refused, Refused)]
        return {"accepted": [answer for answer in answers if isinstance(answer, Receipt)], "rejected": rejected}

    async def _take_stream(self, request: Request) -> object:
        lines = _lines(request)
        try:
            first = await anext(lines)
        except StopAsyncIteration:
            raise Refused("bad-json", "the first line must be the notification, those after it pages of followers") from None
        return await self._intake.stream(typed(first, Header), _pages(lines), request.service)

    # Users.

    async def _pull(self, request: Request) -> Answer:
        since, epoch = _number(request, "since", None, MAX_MARK), _number(request, "epoch", None, MAX_MARK)
        ask = PullQuery(since=since, epoch=epoch, limit=_number(request, "limit", 50, 500) or 1)
        return Answer(200, await self._feed.pull(request.user, request.query.get("client", ""), ask))

    async def _preferences(self, request: Request) -> Answer:
        person = (await self._store.people([request.user]))[request.user]
        return Answer(200, person.preferences or Preferences())

    async def _prefer(self, request: Request) -> Answer:
        wanted = prefs.parse(await request.json_bytes())
        await self._keep(request.user, wanted)
        return Answer(200, wanted)

    async def _keep(self, user: str, wanted: Preferences) -> None:
        """Stores preferences; they are honoured from the next event on (SB-43)."""
        await self._store.save_preferences(user, msgspec.json.encode(wanted))
        await self._routes.refresh(user)

    async def _devices(self, request: Request) -> Answer:
        devices = await self._store.devices(request.user)
        return Answer(200, {"devices": [{"endpoint": device.endpoint} for device in devices]})

    async def _add_device(self, request: Request) -> Answer:
        new = await request.body(NewDevice)
        device = Device(new.endpoint, new.keys.get("p256dh", ""), new.keys.get("auth", ""))
        Subscription(*device).check(allow_loopback=self._pusher is not None and self._pusher.allow_loopback)
        others = {each.endpoint for each in await self._store.devices(request.user)} - {device.endpoint}
        if len(others) >= MAX_DEVICES:
            raise Refused("bad-field", f"{MAX_DEVICES} devices take pushes for you already; remove one first")
        await self._store.add_device(request.user, device)
        await self._routes.refresh(request.user)
        return Answer(201, {"endpoint": device.endpoint})

    async def _remove_device(self, request: Request) -> Answer:
        endpoint = request.query.get("endpoint", "")
        if not endpoint:
            raise Refused("bad-field", "say which: ?endpoint=... as GET /v1/me/devices names it")
        await self._store.remove_device(request.user, endpoint)
        await self._routes.refresh(request.user)
        return Answer(204)

    async def _explain(self, request: Request) -> Answer:
        return Answer(200, await self._why.explain(request.user, request.path["event"]))

    async def _key(self, request: Request) -> Answer:
        if self._pusher is None:
            raise Refused("not-found", "no pushes are sent from here: notification.push is not configured")
        return Answer(200, {"key": self._pusher.public_key})

    # Unsubscribing from a mail: no login, one click (RFC 8058); a GET only asks, since programs follow links.

    async def _ask_unsubscribe(self, request: Request) -> Answer:
        wish = unsubscribe.verify(self._secret, request.path["token"], self._wall())
        return Answer(200, unsubscribe_page.page(wish, asked=True), dict(PAGE))

    async def _unsubscribe(self, request: Request) -> Answer:
        wish = unsubscribe.verify(self._secret, request.path["token"], self._wall())
        person = (await self._store.people([wish.user]))[wish.user]
        before = msgspec.json.decode(person.preferences, type=Preferences) if person.preferences else Preferences()
        await self._keep(wish.user, _without_mail(before, CLASSES if wish.cls == unsubscribe.ALL else [wish.cls]))
        return Answer(200, unsubscribe_page.page(wish, asked=False), dict(PAGE))

    # Operators.

    async def _dead(self, request: Request) -> Answer:
        found = await self._store.dead(request.query.get("after", ""), _number(request, "limit", 50, MAX_DEAD) or 1)
        letters = [{"key": key, **sent._asdict()} for key, sent in found]
        return Answer(200, {"letters": letters, "next": found[-1][0] if found else None})

    async def _replay(self, request: Request) -> Answer:
        if not await self._why.replay(request.path["key"]):
            raise Refused("not-found", "there is no such dead letter; it may have been replayed already")
        return Answer(202, {"key": request.path["key"]})


def _without_mail(before: Preferences, classes: Iterable[str]) -> Preferences:
    channels = {cls: {**before.channels.get(cls, {}), "email": False} for cls in classes}
    return msgspec.structs.replace(before, channels=before.channels | channels)


def _number(request: Request, name: str, default: int | None, most: int) -> int | None:
    text = request.query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal()) or len(text) > 16 or int(text) > most:
        raise Refused("bad-field", f"{name} must be a number from 0 to {most}")
    return int(text)


async def _lines(request: Request) -> AsyncIterator[bytes]:
    """Returns the lines of the body as they come in. Raises `Refused("too-large")` for a line without an end, and as `_pieces`."""
    rest = b""
    async for chunk in _pieces(request):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line.strip():
                yield line
        if len(rest) > MAX_LINE_BYTES:
            raise Refused("too-large", f"a line is longer than {MAX_LINE_BYTES} bytes; send at most 1000 followers on one")
    if rest.strip():
        yield rest


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """Yields the body as it comes in. Raises `Refused` when the token of the service ends meanwhile, whether anything comes or not."""
    while True:
        try:
            async with asyncio.timeout(CHECKED_S):
                piece = await request.raw.content.readany()
        except TimeoutError:
            request.check_still()
            continue
        request.check_still()
        if not piece:
            return
        yield piece


async def _pages(lines: AsyncIterator[bytes]) -> AsyncIterator[Page]:
    async for line in lines:
        yield typed(line, Page)
