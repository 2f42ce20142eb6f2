"""The HTTP handlers of a broker for operators: who is here, who is sent away, who is kept out, what is told to everybody, and the ring.

Any broker of any site does for all; the ring of a site is changed by a broker of that site.

Each change is a line in the audit log, also one that was refused, and one that a service tried that is no operator.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from infra.kernel.bearer import bearer_token
from infra.kernel.errors import Refused, Unavailable
from infra.kernel.json_text import typed
from infra.runtime.audit import AuditLog
from infra.runtime.ending import end_tasks
from infra.runtime.http.door import Answer, BufferedExchange, Exchange, Factory, Head, Response
from infra.runtime.tokens import Service

from . import operator_answers as bodies
from .operator_bans import OperatorBans
from .operator_request import OperatorRequest
from .operator_sessions import ENCODE, OperatorSessions
from .options import BrokerOptions
from .orders import ClusterOrders
from .revocation_keeper import RevocationKeeper
from .ring_keeper import RingKeeper

MAX_BODY_BYTES: Final = 16 << 10
MAX_RUNNING: Final = 256

VerifyOperator = Callable[[str, float], Service]


_Work = Callable[[OperatorRequest], Awaitable[object]]


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
        self._sessions = OperatorSessions(options, orders, now, new_id)
        self._bans = OperatorBans(keeper, options.longest_token_s)
        self._keeper, self._audit, self._ring = keeper, audit, ring
        self._verify, self._name, self._wall, self._now = verify, name, wall, now
        self._running: set[asyncio.Task[Response]] = set()

    def routes(self) -> Mapping[tuple[str, str], Factory]:
        """Returns what is answered: method and path -> what makes the exchange."""
        return {
            ("GET", "/v1/sessions"): self._reading(self._sessions.sessions),
            ("POST", "/v1/sessions/disconnect"): self._changing("disconnect", self._sessions.disconnect),
            ("POST", "/v1/sessions/unsubscribe"): self._changing("unsubscribe", self._sessions.unsubscribe),
            ("GET", "/v1/bans"): self._reading(self._bans.bans),
            ("POST", "/v1/bans"): self._changing("ban", self._bans.ban),
            ("POST", "/v1/bans/lift"): self._changing("unban", self._bans.lift),
            ("GET", "/v1/revocations"): self._reading(self._bans.revocations),
            ("POST", "/v1/revocations"): self._changing("revoke", self._bans.revoke),
            ("POST", "/v1/announcements"): self._changing("announce", self._sessions.announce),
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
        task = asyncio.get_running_loop().create_task(
            self._run(work(OperatorRequest(who, head, body, []))), name="a request of an operator"
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _run(self, work: Awaitable[object]) -> Response:
        """Returns the answer. Raises what went wrong, which the door tells the operator (`answers.outcome`)."""
        try:
            return Response(200, ENCODE(await work))
        except Unavailable as trouble:
            self.refused += 1
            raise Refused("unavailable", str(trouble)) from trouble
        except Exception:
            self.refused += 1
            raise

    async def _audited(self, what: str, work: _Work, asked: OperatorRequest) -> object:
        with self._audit.change(asked.who, what, asked.on, address=asked.head.place.host) as details:
            answer = await work(asked)
            if isinstance(answer, bodies.OrderDone):
                details |= {"sessions": answer.sessions} | ({"missing": ",".join(answer.missing)} if answer.partial else {})
            return answer

    # The ring.

    async def _ring_state(self, asked: OperatorRequest) -> bodies.RingState:
        return self._ring.state()

    async def _aim_ring(self, asked: OperatorRequest) -> bodies.RingState:
        request = typed(asked.body, bodies.RingRequest)
        asked.on.extend(("site", request.site, *(f"{slot}={share}" for slot, share in sorted(request.goal.items()))))
        self._ring.check_site(request.site)
        return await self._ring.aim(request.before, request.goal)

    async def _stop_ring(self, asked: OperatorRequest) -> bodies.RingState:
        request = typed(asked.body, bodies.RingStop)
        asked.on.extend(("site", request.site))
        self._ring.check_site(request.site)
        return await self._ring.stop()
