"""Relay: what clients ask of services, and how the answers come back to them."""

from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial

from infra.kernel.errors import Refused
from infra.kernel.frames import Reply
from infra.kernel.open_calls import Then, refusal_of
from infra.kernel.roles import NOTIFICATION
from infra.kernel.topics import Topic

from . import messages
from .calls import SERVICE_OF, Calls
from .catch_up import CatchUp
from .followable import durable_requests
from .session import Session, SessionState


class Relay:
    """The way of requests from sessions to the configured `services`, and of answers back. What is refused is counted in `refusals`.

    Whoever has left by the time of the answer does not get it. At most `max_calls_per_client` requests of one session wait for their
    answers: a service that is slow must not let one client have all the room.
    """

    def __init__(self, calls: Calls, services: Collection[str], refusals: Counter[str], max_calls_per_client: int) -> None:
        self._calls = calls
        self._services = services
        self._refusals = refusals
        self._most = max_calls_per_client

    def ask(self, session: Session, op: str, text: bytes, id_: messages.Id, now_s: float) -> None:
        """Passes a client's message on as it was written; the client gets the service's answer, or an error.

        - `op`: what `text`, the message, asks for.
        - `id_`: its id, for an error or a plain ok.
        - `now_s`: from when the service's time to answer counts.
        """
        then = partial(self._answered, session, id_)
        if (full := self._full(session)) is not None:
            then(full)
        else:
            self._call(session, SERVICE_OF[op], op, text, then, now_s)

    def _full(self, session: Session) -> Refused | None:
        if session.open_calls < self._most:
            return None
        return Refused("rate-limited", f"{self._most} requests of this client wait for their answers; wait for one of them first")

    def catch_up(self, session: Session, pull: bytes, catch_up: CatchUp, now_s: float) -> None:
        """Pulls for a client that did not ask. The client hears of what is found, and `catch_up` of what goes wrong."""

        def then(result: Reply | Refused) -> None:
            if refusal_of(result) is None:
                catch_up.succeeded()
                self._answered(session, None, result)
            elif session.state is SessionState.READY:
                catch_up.failed(session)

        self._call(session, NOTIFICATION, "pull", pull, then, now_s)

    def follow(self, session: Session, op: str, topics: Iterable[Topic], now_s: float) -> None:
        """Tells the services that remember who follows what that `session` does `op`, follow or unfollow, to `topics`; one call each.

        What they refuse is an error without an id: the client's message is answered by what the engine does, which delivers all the
        same. Their time to answer counts from `now_s`.
        """
        then = partial(self._followed, session, op)
        for service, body in durable_requests(topics):
            if service not in self._services:
                continue
            if (full := self._full(session)) is not None:
                then(full)
            else:
                self._call(session, service, op, body, then, now_s)

    def _call(self, session: Session, service: str, op: str, body: bytes, then: Then, now_s: float) -> None:
        def closed(result: Reply | Refused) -> None:
            session.open_calls -= 1
            then(result)

        session.open_calls += 1
        try:
            self._calls.call(service, op, session.user, session.client, body, now_s, closed)
        except Refused as refused:
            closed(refused)

    def _answered(self, session: Session, id_: messages.Id, result: Reply | Refused) -> None:
        if (refused := refusal_of(result)) is not None:
            self.refuse(session, id_, refused)
        elif isinstance(result, Reply) and session.state is SessionState.READY:
            session.say(result.body or messages.ok(id_))

    def _followed(self, session: Session, op: str, result: Reply | Refused) -> None:
        if (refused := refusal_of(result)) is not None:
            self.refuse(session, None, Refused(refused.code.name, f"no lasting {op}: {refused.reason}; ask again"))

    def refuse(self, session: Session, id_: messages.Id, refused: Refused) -> None:
        """Tells a client, if it is still there, that its request `id_` was `refused` after a while. A fatal code ends the session."""
        if session.state is not SessionState.READY:
            return
        self._refusals[refused.code.name] += 1
        if refused.code.fatal:
            session.end(refused)
        else:
            session.say(messages.error(refused, id_))
