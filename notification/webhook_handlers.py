"""The HTTP handlers for the webhooks of a user (docs/webhooks.md)."""

import secrets
from collections.abc import Awaitable, Callable

import msgspec

from infra.kernel.errors import Refused
from infra.runtime.http.web import Answer, Request, Route

from .answers import ShownWebhook, WebhookList, WebhookSecret, WebhookTest
from .module_context import ModuleContext
from .turns import Turns
from .webhook import SECRET_BYTES, Webhook, check_url, encoded, secret_from
from .webhook_caller import WebhookCaller

ID_BYTES = 6
# Test messages that are under way or wait, of all users; each user has one at a time.
MAX_TESTS = 64


class NewWebhook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body that makes a webhook: where messages are posted."""

    url: str


class WebhookHandlers:
    """The handlers.

    - `module`: the store and the clock.
    - `caller`: posts test messages, and knows where it may call.
    - `per_user`: how many a user may have.
    - `refresh`: tells the owner of a user that they have others.
    """

    def __init__(self, module: ModuleContext, caller: WebhookCaller, per_user: int, refresh: Callable[[str], Awaitable[None]]) -> None:
        self._module, self._store, self._caller = module, module.store, caller
        self._per_user, self._refresh = per_user, refresh
        self._tests = Turns(MAX_TESTS, most_of_key=1)

    def routes(self) -> list[Route]:
        """Returns the routes of all paths."""
        return [
            Route("GET", "/v1/me/webhooks", "user", self._list),
            Route("POST", "/v1/me/webhooks", "user", self._add),
            Route("DELETE", "/v1/me/webhooks/{id}", "user", self._remove),
            Route("POST", "/v1/me/webhooks/{id}/rotate", "user", self._rotate),
            Route("POST", "/v1/me/webhooks/{id}/test", "user", self._test),
        ]

    async def _list(self, request: Request) -> Answer:
        found = await self._store.webhooks(request.user)
        return Answer(200, WebhookList([ShownWebhook(each.id, each.url, each.made_ms, each.previous_until_ms) for each in found]))

    async def _add(self, request: Request) -> Answer:
        url = (await request.body(NewWebhook)).url
        check_url(url, self._caller.private)
        if len(await self._store.webhooks(request.user)) >= self._per_user:
            raise Refused("bad-field", f"{self._per_user} webhooks of a user are taken here; remove one first")
        made = Webhook(secrets.token_hex(ID_BYTES), url, _new_secret(), "", 0, self._module.now_ms())
        await self._keep(request.user, made)
        return Answer(201, WebhookSecret(made.id, made.url, made.secret))

    async def _remove(self, request: Request) -> Answer:
        await self._store.remove_webhook(request.user, request.path["id"])
        await self._refresh(request.user)
        return Answer(204)

    async def _rotate(self, request: Request) -> Answer:
        rotated = (await self._named(request)).rotated(_new_secret(), self._module.now_ms())
        await self._keep(request.user, rotated)
        return Answer(200, WebhookSecret(rotated.id, rotated.url, rotated.secret))

    async def _test(self, request: Request) -> Answer:
        webhook = await self._named(request)
        body = encoded("test", self._module.now_ms(), {"user": request.user})
        async with self._tests.take(request.user):
            outcome = await self._caller.call(webhook, f"msg_test_{secrets.token_hex(8)}", body)
        return Answer(200, WebhookTest(outcome.state.value, outcome.reason))

    async def _keep(self, user: str, webhook: Webhook) -> None:
        await self._store.save_webhook(user, webhook)
        await self._refresh(user)

    async def _named(self, request: Request) -> Webhook:
        for each in await self._store.webhooks(request.user):
            if each.id == request.path["id"]:
                return each
        raise Refused("not-found", "you have no such webhook; GET /v1/me/webhooks names those that you have")


def _new_secret() -> str:
    return secret_from(secrets.token_bytes(SECRET_BYTES))
