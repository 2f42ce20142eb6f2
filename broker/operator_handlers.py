"""The HTTP handlers of a broker for operators: who is here, who is sent away, who is kept out, what is told to everybody, and the ring.

Any broker of any site does for all; the ring of a site is changed by a broker of that site.

Each change is a line in the audit log, also one that was refused, and one that a service tried that is no operator.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

import msgspec

from infra.kernel.bearer import bearer_token
from infra.kernel.errors import Refused, Unavailable
from infra.kernel.json_text import typed
from infra.kernel.orders import AnnounceOrder, Answers, DisconnectOrder, Order, SessionsOrder, UnsubscribeOrder
from infra.kernel.rates import Bucket, Rate, RateRefused
from infra.kernel.revocations import LAST_MS, Ban, Revocation
from infra.kernel.topics import Kind, kind_of, parse_topic
from infra.runtime.audit import AuditLog
from infra.runtime.ending import end_tasks
from infra.runtime.http.door import Answer, BufferedExchange, Exchange, Factory, Head, Response
from infra.runtime.tokens import Service

from . import operator_answers as bodies
from .options import BrokerOptions
from .orders import ClusterOrders
from .revocation_keeper import RevocationKeeper
from .ring_keeper import RingKeeper

MAX_BODY_BYTES: Final = 16 << 10
MAX_DATA_BYTES: Final = 8 << 10
MAX_RUNNING: Final = 256
PAGE: Final = 1000
_ENCODE: Final = msgspec.json.Encoder().encode

VerifyOperator = Callable[[str, float], Service]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request: who asks, from where, and for what. `on` is filled in when that is known, for the audit log."""

    who: Service
    head: Head
    body: bytes
    on: list[str]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.head.query, keep_blank_values=True))


_Work = Callable[[_Asked], Awaitable[object]]


class OperatorHandlers:
    """The handlers.

    - `verify(token, wall_s)`: returns the operator who shows a token. Raises `Refused` for everybody else.
    - `name(token, wall_s)`: returns the service that shows a token, operator or not. Raises `Refused`.
    - `wall`: Unix time in seconds; `now`: seconds of a clock that never goes back.
    - `new_id()`: returns an id that no other order has.
    """

    def __init__(
        self,
        options: BrokerOptions,
        keeper: RevocationKeeper,
        orders: ClusterOrders,
        ring: RingKeeper,
        audit: AuditLog,
        *,
        verify: VerifyOperator,
        name: VerifyOperator,
        wall: Callable[[], float],
        now: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self.requests = self.refused = 0
        self._options, self._keeper, self._orders, self._audit = options, keeper, orders, audit
        self._ring = ring
        self._verify, self._name, self._wall, self._now, self._new_id = verify, name, wall, now, new_id
        self._announcements = Bucket(Rate(options.announcements_per_minute / 60, options.announcements_per_minute))
        self._running: set[asyncio.Task[Response]] = set()

    def routes(self) -> Mapping[tuple[str, str], Factory]:
        """Returns what is answered: method and path -> what makes the exchange."""
        return {
            ("GET", "/v1/sessions"): self._reading(self._sessions),
            ("POST", "/v1/sessions/disconnect"): self._changing("disconnect", self._disconnect),
            ("POST", "/v1/sessions/unsubscribe"): self._changing("unsubscribe", self._unsubscribe),
            ("GET", "/v1/bans"): self._reading(self._bans),
            ("POST", "/v1/bans"): self._changing("ban", self._ban),
            ("POST", "/v1/bans/lift"): self._changing("unban", self._lift),
            ("GET", "/v1/revocations"): self._reading(self._revocations),
            ("POST", "/v1/revocations"): self._changing("revoke", self._revoke),
            ("POST", "/v1/announcements"): self._changing("announce", self._announce),
            ("GET", "/v1/ring"): self._reading(self._ring_state),
            ("POST", "/v1/ring"): self._changing("ring", self._aim_ring),
            ("POST", "/v1/ring/stop"): self._changing("ring-stop", self._stop_ring),
        }

    def counters(self) -> dict[str, Any]:
        """Returns the figures for `metrics.METRICS`."""
        known = self._keeper.book.known
        return {
            "broker_operator_requests_total": self.requests,
            "broker_operator_refused_total": self.refused,
            "broker_revocations": len(known),
            "broker_revocations_turned_away_total": known.turned_away,
            "broker_revocations_kept": int(self._keeper.is_kept),
            "broker_audit_failures_total": self._audit.failures,
        }

    async def close(self) -> None:
        """Gives up what is being answered. May be called twice."""
        await end_tasks(*self._running)

    # Requests.

    def _reading(self, work: _Work) -> Factory:
        return partial(self._exchange, "", work)

    def _changing(self, what: str, work: _Work) -> Factory:
        return partial(self._exchange, what, partial(self._audited, what, work))

    def _exchange(self, what: str, work: _Work, head: Head) -> Exchange:
        self.requests += 1
        try:
            token, wall_s = bearer_token(head.headers.get(b"authorization", b"").decode("latin-1")), self._wall()
            who = head.place.check_token(partial(self._operator, what, head, token, wall_s), self._now())
            if len(self._running) >= MAX_RUNNING:
                raise Refused("overloaded", f"{MAX_RUNNING} requests of operators are being answered; try again")
        except Refused:
            self.refused += 1
            raise
        return BufferedExchange(head, partial(self._answer, work, who), MAX_BODY_BYTES)

    def _operator(self, what: str, head: Head, token: str, wall_s: float) -> Service:
        """Returns the operator who shows `token`. Who is a service, but no operator, is written down if they wanted to change something."""
        try:
            return self._verify(token, wall_s)
        except Refused as refused:
            if what and refused.code.name == "forbidden":
                with suppress(Refused):  # a user is refused like a stranger
                    self._audit.write(self._name(token, wall_s), what, "-", address=head.place.host, result="forbidden")
            raise

    def _answer(self, work: _Work, who: Service, head: Head, body: bytes) -> Answer:
        task = asyncio.get_running_loop().create_task(self._run(work(_Asked(who, head, body, []))), name="a request of an operator")
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _run(self, work: Awaitable[object]) -> Response:
        """Returns the answer. Raises what went wrong, which the door tells the operator (`answers.outcome`)."""
        try:
            return Response(200, _ENCODE(await work))
        except Unavailable as trouble:
            self.refused += 1
            raise Refused("unavailable", str(trouble)) from trouble
        except Exception:
            self.refused += 1
            raise

    async def _audited(self, what: str, work: _Work, asked: _Asked) -> object:
        with self._audit.change(asked.who, what, asked.on, address=asked.head.place.host) as details:
            answer = await work(asked)
            if isinstance(answer, bodies.OrderDone):
                details |= {"sessions": answer.sessions} | ({"missing": ",".join(answer.missing)} if answer.partial else {})
            return answer

    # Sessions.

    async def _sessions(self, asked: _Asked) -> bodies.SessionList:
        user = _user(asked)
        answers = await self._orders.give(SessionsOrder(self._new_id(), user))
        rows = [row for point in answers.points for row in point.sessions]
        return bodies.SessionList(*_done(answers), listed=rows)

    async def _disconnect(self, asked: _Asked) -> bodies.OrderDone:
        request = typed(asked.body, bodies.DisconnectRequest)
        kind, name = _only_one(user=request.user, session=request.session)
        asked.on.extend((kind, name))
        return await self._order(DisconnectOrder(self._new_id(), request.user or "", request.session or "", request.may_return))

    async def _unsubscribe(self, asked: _Asked) -> bodies.OrderDone:
        request = typed(asked.body, bodies.UnsubscribeRequest)
        asked.on.extend(("user", request.user, "topic", request.topic))
        if kind_of(parse_topic(request.topic)) is Kind.INBOX:
            raise Refused("bad-topic", "an inbox belongs to its user's sessions; to end them: disconnect")
        return await self._order(UnsubscribeOrder(self._new_id(), request.user, request.topic))

    async def _announce(self, asked: _Asked) -> bodies.OrderDone:
        request = typed(asked.body, bodies.AnnounceRequest)
        asked.on.extend(request.sites or ["everybody"])
        if unknown := sorted({*request.sites} - {*self._orders.sites}):
            raise Refused("bad-field", f"there is no site {unknown[0]!r:.80}; there are {', '.join(sorted(self._orders.sites))}")
        data = _ENCODE(request.data)
        if len(data) > MAX_DATA_BYTES:
            raise Refused("too-large", f"data has {len(data)} bytes, and may have {MAX_DATA_BYTES}")
        if wait_s := self._announcements.allow(self._now()):
            most = self._options.announcements_per_minute
            raise RateRefused(wait_s, f"everybody is told something {most:g} times a minute at most (announcements_per_minute)")
        return await self._order(AnnounceOrder(self._new_id(), request.text, msgspec.Raw(data)), request.sites)

    async def _order(self, order: Order, sites: list[str] | None = None) -> bodies.OrderDone:
        return bodies.OrderDone(*_done(await self._orders.give(order, sites or ())))

    # Bans and revocations.

    async def _ban(self, asked: _Asked) -> bodies.BanMade:
        request = typed(asked.body, bodies.BanRequest)
        asked.on.extend(("user", request.user))
        _only_one(seconds=request.seconds, until=request.until)
        now_ms = self._keeper.book.now_ms
        until_ms = _ms(request.until) if request.until is not None else now_ms + _ms(request.seconds or 0.0)
        if until_ms <= now_ms:
            raise Refused("bad-field", "this ban would be over already; `until` is Unix time in seconds")
        await self._keeper.add(Ban(request.user, self._next_ms(request.user), min(until_ms, LAST_MS), 0))
        return bodies.BanMade(_ban_row(self._keeper.book.known.ban_of(request.user)), self._kept)

    async def _lift(self, asked: _Asked) -> bodies.BanMade:
        request = typed(asked.body, bodies.LiftRequest)
        asked.on.extend(("user", request.user))
        before = self._keeper.book.known.ban_of(request.user)
        if before is not None and before.until_ms > self._keeper.book.now_ms:
            await self._keeper.add(Ban(request.user, self._next_ms(request.user), 0, before.until_ms))
        return bodies.BanMade(None, self._kept)

    def _next_ms(self, user: str) -> int:
        """Returns the time of a decision about `user`, which is later than the last one even where a clock was ahead."""
        before = self._keeper.book.known.ban_of(user)
        return max(self._keeper.book.now_ms, before.at_ms + 1 if before is not None else 0)

    async def _bans(self, asked: _Asked) -> bodies.BanList:
        now_ms = self._keeper.book.now_ms
        bans = {each.user: each for each in self._keeper.book.known.bans() if each.until_ms > now_ms}
        page, more = _page(asked, bans)
        return bodies.BanList([row for each in page if (row := _ban_row(each)) is not None], more)

    async def _revoke(self, asked: _Asked) -> bodies.RevocationMade:
        request = typed(asked.body, bodies.RevocationRequest)
        kind, name = _only_one(user=request.user, service=request.service, token=request.jti)
        asked.on.extend((kind, name))
        now_s = self._keeper.book.now_ms / 1000
        before_s = now_s if request.issued_before is None else request.issued_before
        until_s = now_s + self._options.longest_token_s if request.until is None else request.until
        if until_s <= now_s:
            raise Refused("bad-field", "this revocation would be over already; `until` is Unix time in seconds")
        made = Revocation(kind, name, _ms(before_s), min(_ms(until_s), LAST_MS))  # type: ignore[arg-type]  # one of the three
        await self._keeper.add(made)
        return bodies.RevocationMade(_revocation_row(made), self._kept)

    async def _revocations(self, asked: _Asked) -> bodies.RevocationList:
        now_ms = self._keeper.book.now_ms
        known = {" ".join(each.key): each for each in self._keeper.book.known.revocations() if each.until_ms > now_ms}
        page, more = _page(asked, known)
        return bodies.RevocationList([_revocation_row(each) for each in page], more)

    # The ring.

    async def _ring_state(self, asked: _Asked) -> bodies.RingState:
        return self._ring.state()

    async def _aim_ring(self, asked: _Asked) -> bodies.RingState:
        request = typed(asked.body, bodies.RingRequest)
        asked.on.extend(("site", request.site, *(f"{slot}={share}" for slot, share in sorted(request.goal.items()))))
        self._ring.check_site(request.site)
        return self._ring.aim(request.before, request.goal)

    async def _stop_ring(self, asked: _Asked) -> bodies.RingState:
        request = typed(asked.body, bodies.RingStop)
        asked.on.extend(("site", request.site))
        self._ring.check_site(request.site)
        return self._ring.stop()

    @property
    def _kept(self) -> Any:
        return "disk" if self._keeper.is_kept else "memory"


def _user(asked: _Asked) -> str:
    """Returns the user whom the query names. Raises `Refused` where it names none."""
    name = asked.query.get("user", "")
    return typed(_ENCODE({"user": name}), bodies.LiftRequest).user


def _only_one(**named: object) -> tuple[str, str]:
    """Returns the name and the value of the only argument that is given. Raises `Refused` for none, and for several."""
    given = [(name, str(value)) for name, value in named.items() if value is not None]
    if len(given) != 1:
        raise Refused("bad-field", f"name one of {', '.join('jti' if name == 'token' else name for name in named)}, not {len(given)}")
    return given[0]


def _page(asked: _Asked, known: Mapping[str, T]) -> tuple[list[T], bool]:
    """Returns the page of `known` behind the name in `after`, by name, and whether there is more."""
    after = asked.query.get("after", "")
    names = sorted(name for name in known if name > after)
    return [known[name] for name in names[:PAGE]], len(names) > PAGE


def _done(answers: Answers) -> tuple[int, bool, list[str]]:
    return sum(point.done for point in answers.points), bool(answers.missing), answers.missing


def _ms(time_s: float) -> int:
    return int(time_s * 1000)


def _revocation_row(entry: Revocation) -> bodies.RevocationRow:
    return bodies.RevocationRow(entry.kind, entry.name, entry.before_ms / 1000, entry.until_ms / 1000)


def _ban_row(entry: Ban | None) -> bodies.BanRow | None:
    return bodies.BanRow(entry.user, entry.at_ms / 1000, entry.until_ms / 1000) if entry is not None else None
