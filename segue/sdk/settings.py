"""The SDK for what a user sets about notifications, and asks about them. It talks to the HTTP API of notification modules.

    async with segue.SettingsClient("http://127.0.0.1:7720", token) as settings:
        held = await settings.preferences()
        await settings.set_preferences(msgspec.structs.replace(held, digest="daily"))

The notifications themselves come by `Client.notifications`.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from segue.sdk.service_client import ServiceClient, path_part

Digest = Literal["off", "daily", "weekly"]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class QuietHours(msgspec.Struct, frozen=True, kw_only=True):
    """The hours of the day without pushes, local times "HH:MM"; they go past midnight where `until` is the earlier one."""

    since: str = msgspec.field(name="from")
    until: str = msgspec.field(name="to")


class NotificationPreferences(msgspec.Struct, frozen=True, kw_only=True):
    """The preferences of a user (docs/preferences.md).

    - `email`: where mails go; None: there are none.
    - `channels`: class, then channel, then whether it is wanted; what is absent is wanted.
    - `muted`: "artist:<id>", "user:<name>" and "playlist:<owner>/<id>".
    - `tz`: the time zone of all times here, by its IANA name.
    - `quiet`: when no push comes; None: a push may always come.
    - `digest`: whether mails are collected into one. It goes out at `digest_at`; if it is weekly, on `digest_day`.
    """

    email: str | None = None
    channels: Mapping[str, Mapping[str, bool]] = {}
    muted: Sequence[str] = ()
    tz: str = "UTC"
    quiet: QuietHours | None = None
    digest: Digest = "off"
    digest_at: str = "08:00"
    digest_day: Weekday = "monday"


class PushDevice(msgspec.Struct, frozen=True):
    """A browser that takes pushes, by the address to which they go."""

    endpoint: str


class WebhookEndpoint(msgspec.Struct, frozen=True):
    """An endpoint to which notifications are posted.

    - `id`: by which it is named.
    - `url`: where it is.
    - `made_ms`: since when it is there, as Unix time in milliseconds.
    - `previous_until_ms`: until when the secret before signs, too; 0: there is none.
    """

    id: str
    url: str
    made_ms: int
    previous_until_ms: int


class MadeWebhook(msgspec.Struct, frozen=True):
    """A webhook with its secret ("whsec_…"), which is told this once."""

    id: str
    url: str
    secret: str


class WebhookTrial(msgspec.Struct, frozen=True):
    """The outcome of a test message: `delivered`, `retry`, `failed` or `gone`, and why."""

    state: str
    reason: str


class SentCopy(msgspec.Struct, frozen=True):
    """The end of a mail, a push or a live copy, or how it stands. `ts`: since when, as Unix time in milliseconds."""

    channel: str
    state: str
    reason: str
    ts: int


class EventExplanation(msgspec.Struct, frozen=True):
    """Why a user got an event, or did not.

    - `event`, `topic`, `kind`: what it was.
    - `decided`: when that was decided, as Unix time in milliseconds.
    - `mark`: its place in the inbox; 0 where it is not there.
    - `types`: the ways on which it went; `sent` says what became of them.
    - `reasons`: the rules that decided (docs/rules.md).
    """

    event: str
    topic: str
    kind: str
    decided: int
    mark: int
    types: tuple[str, ...]
    reasons: tuple[str, ...]
    sent: tuple[SentCopy, ...]


class _Devices(msgspec.Struct):
    devices: list[PushDevice]


class _Webhooks(msgspec.Struct):
    webhooks: list[WebhookEndpoint]


class _PushKey(msgspec.Struct):
    key: str


class SettingsClient(ServiceClient):
    """A client of notification modules. Its arguments and errors are those of every ServiceClient.

    Repeating a request changes nothing more, so a request that was not answered is sent to the next address.
    """

    async def preferences(self) -> NotificationPreferences:
        """Returns what the user has set; the defaults where they have not."""
        return await self._ask(NotificationPreferences, "GET", "me/preferences")

    async def set_preferences(self, preferences: NotificationPreferences) -> NotificationPreferences:
        """Replaces all that the user has set, from the next event on; returns what holds now."""
        return await self._ask(NotificationPreferences, "PUT", "me/preferences", msgspec.to_builtins(preferences))

    async def devices(self) -> list[PushDevice]:
        """Returns the browsers to which pushes go: at most 20."""
        return (await self._ask(_Devices, "GET", "me/devices")).devices

    async def add_device(self, endpoint: str, keys: Mapping[str, str]) -> PushDevice:
        """Has pushes sent to a browser: `endpoint` and `keys` are what its `PushSubscription.toJSON()` gives."""
        return await self._ask(PushDevice, "POST", "me/devices", {"endpoint": endpoint, "keys": dict(keys)})

    async def remove_device(self, endpoint: str) -> None:
        """Has no more pushes sent to the browser with this `endpoint`."""
        await self._ask(type(None), "DELETE", "me/devices", endpoint=endpoint)

    async def webhooks(self) -> list[WebhookEndpoint]:
        """Returns the endpoints to which notifications are posted."""
        return (await self._ask(_Webhooks, "GET", "me/webhooks")).webhooks

    async def add_webhook(self, url: str) -> MadeWebhook:
        """Has notifications posted to `url`, signed by the secret in the answer. A request that is repeated may make two."""
        return await self._ask(MadeWebhook, "POST", "me/webhooks", {"url": url})

    async def remove_webhook(self, webhook: str) -> None:
        """Has nothing more posted to a webhook, by its id."""
        await self._ask(type(None), "DELETE", f"me/webhooks/{path_part(webhook)}")

    async def rotate_webhook(self, webhook: str) -> MadeWebhook:
        """Gives a webhook a new secret. For a day the secret before signs, too."""
        return await self._ask(MadeWebhook, "POST", f"me/webhooks/{path_part(webhook)}/rotate", {})

    async def test_webhook(self, webhook: str) -> WebhookTrial:
        """Has a test message posted now, and returns what came of it."""
        return await self._ask(WebhookTrial, "POST", f"me/webhooks/{path_part(webhook)}/test", {})

    async def push_key(self) -> str:
        """Returns the key that a browser wants as `applicationServerKey`. Raises Refused (`not-found`) where no pushes are sent."""
        return (await self._ask(_PushKey, "GET", "push-key")).key

    async def why(self, event: str) -> EventExplanation:
        """Returns what was decided about `event`, by its id, for the user. Raises Refused (`not-found`) where nothing was."""
        return await self._ask(EventExplanation, "GET", f"me/why/{path_part(event)}")
