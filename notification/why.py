"""Explanations: what became of an event for a user. And dead letters, sent again."""

import msgspec

from infra.kernel.errors import Refused

from .core import DIGEST, EMAIL, LIVE, PUSH
from .module_context import ModuleContext
from .ownership.routes import Routes
from .shards import shard_of
from .store import Task
from .webhook import channel_of


class Ending(msgspec.Struct, frozen=True):
    """The ending of a mail or push, or how a live copy stands that was not taken at once."""

    channel: str
    state: str
    reason: str
    ts: int


class Explanation(msgspec.Struct, frozen=True):
    """The record of an event for a user. `mark` is 0 where nothing was stored; `reasons` are rules, as `docs/rules.md` tells them."""

    event: str
    topic: str
    kind: str
    decided: int
    mark: int
    types: tuple[str, ...]
    reasons: tuple[str, ...]
    sent: list[Ending]


class Why:
    """The answers to "why did I (not) get this", and the way back of dead letters."""

    def __init__(self, module: ModuleContext, routes: Routes) -> None:
        self._module, self._store, self._routes = module, module.store, routes

    async def explain(self, user: str, event: str) -> Explanation:
        """Returns what became of `event` for `user`. Raises `Refused("not-found")` for an event that is not known, or not theirs."""
        notice = (await self._store.notices([event])).get(event)
        if notice is None:
            raise Refused("not-found", "no such event, or it is past its time")
        decision = (await self._store.decisions([(user, event)])).get((user, event))
        if decision is None:
            raise Refused("not-found", "you were not among those who followed this when it happened; its topic's history has it")
        webhooks = [channel_of(each.id) for each in await self._store.webhooks(user)]
        keys = [(user, event, channel) for channel in (LIVE, EMAIL, DIGEST, PUSH, *webhooks)]
        sent = [Ending(each.channel, each.state, each.reason, each.ts_ms) for each in (await self._store.sent(keys)).values()]
        return Explanation(event, notice.topic, notice.kind, decision.ts_ms, decision.mark, decision.types, decision.reasons, sent)

    async def replay(self, key: str) -> bool:
        """Tries a dead letter again from the start. Returns False if there is none with this key."""
        sent = await self._store.exhume(key)
        if sent is None:
            return False
        now_ms = self._module.now_ms()
        await self._routes.schedule(Task(shard_of(sent.user), now_ms, sent.user, sent.channel, sent.event, 1, now_ms))
        return True
