"""The gatekeeper: what sessions ask that somebody has to allow, and what ends when it is allowed no longer. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.frames import Barred
from infra.kernel.grants import Grants, TopicsByPattern
from infra.kernel.http_error import described
from infra.kernel.rates import RateRefused
from infra.kernel.roles import SOCIAL
from infra.kernel.topics import Topic, format_topic, parse_topic

from .. import messages
from ..bearer import TokenBearer, Verify
from ..calls import Calls
from ..hub import Hub
from ..options import AccessPointOptions
from ..private_sessions import PrivateSessions
from ..relay import Relay
from ..session import Session, SessionState
from ..sessions_by_user import SessionsByUser
from ..soon import Soon, in_slices
from ..subscriptions import Subscriptions
from .admission import Admission
from .authorizer import Authorizer
from .hook_arbiter import HookArbiter
from .rechecks import MAX_OPEN
from .social_arbiter import SocialArbiter
from .visible import Visible

# Each is verified by itself, which takes a good part of a millisecond where the key is a public one.
MAX_TOKENS: Final = 20
# So many are told in one turn of the loop that a topic has ended: each is a write to a socket.
TOLD_AT_ONCE: Final = 100
# A client's pace counts a token as so many topics.
TOKEN_COST: Final = 100


class Gatekeeper:
    """The gatekeeper of one access point.

    - `hub`, `users`: what sessions hold, and whose they are.
    - `subscriptions`: begins and ends what they hold.
    - `calls`, `relay`: lead to the services.
    - `soon(step)`: has a step called in the next turn of the loop.
    - `hook`: answers under the policy `hook`.
    - `verify_subscription(token, wall_s)`: returns who may follow what with a subscription token. Raises `Refused`.
    - `leeway_s`: the skew of clocks that is forgiven where tokens expire.
    """

    def __init__(
        self,
        options: AccessPointOptions,
        hub: Hub,
        users: SessionsByUser,
        subscriptions: Subscriptions,
        calls: Calls,
        relay: Relay,
        soon: Soon,
        *,
        hook: HookArbiter | None = None,
        verify_subscription: Verify | None = None,
        leeway_s: float = 0.0,
    ) -> None:
        self.ended = 0
        self._verify_subscription, self._leeway_s = verify_subscription or _no_tokens, leeway_s
        self._hub, self._users, self._subscriptions, self._relay, self._soon = hub, users, subscriptions, relay, soon
        policy = options.effective_policy
        arbiter = hook if policy == "hook" else SocialArbiter(calls, len(options.services.get(SOCIAL, ()))) if policy == "social" else None
        if policy == "hook" and hook is None:
            raise ValueError("the policy hook needs somebody who asks it")
        self._hook = hook if policy == "hook" else None
        self.authorizer = Authorizer(
            policy,
            arbiter,
            hub,
            users,
            subscriptions.playlists,
            end=self.end,
            end_topic=self.end_topic,
            soon=soon,
            timeout_s=options.call_s,
            max_verdicts=options.max_verdicts,
            max_granted=options.max_topics,
            renewals=self._hook.renewals if self._hook is not None else None,
            most_again=self._hook.most_again if self._hook is not None else MAX_OPEN,
        )
        self.admission = Admission(self.authorizer, subscriptions)
        self.private = PrivateSessions(relay, calls, users, has_social=SOCIAL in options.services)
        self._visible = Visible(self.authorizer)
        # Under another policy nothing that the social service tells changes what users may see.
        self._asks_social = policy == "social"

    # Sessions.

    def joined(self, session: Session, hello: messages.HelloMessage) -> None:
        """Notes that `session` has said `hello`."""
        self._users.joined(session)
        self.private.joined(session, is_private=hello.private)

    def left(self, session: Session) -> None:
        """Forgets a session that is gone, and still holds what it held."""
        if session.state is SessionState.READY:
            self.authorizer.left(session, self._hub.held(session))
            self._users.left(session)
        self.admission.left(session)
        self.private.left(session)
        self.authorizer.granted.left(session)

    def end(self, user: str, refused: dict[Topic, Refused]) -> None:
        """Ends what sessions of `user` hold of these topics, and tells them why. The services that remember followers decide themselves."""
        for session in self._users.of(user):
            self._end_of(session, refused)

    def end_topic(self, topic: Topic, why: Refused, users: Sequence[str]) -> None:
        """Ends what sessions of `users` hold of `topic`, all for one reason: at once, so that nothing of it is sent any more.

        They are told in later turns of the loop. Whoever follows it again by then has no need to hear of it.
        """
        ended = [session for user in users for session in self._users.of(user) if self._hub.holds(session, topic)]
        for session in ended:
            self._subscriptions.drop(session, [topic])
        self.ended += len(ended)
        message = messages.ended([(format_topic(topic), described(why))])
        self._soon(partial(in_slices, ended, TOLD_AT_ONCE, self._soon, partial(self._tell_ended, topic, message)))

    def _tell_ended(self, topic: Topic, message: bytes, session: Session) -> None:
        if session.state is SessionState.READY and not self._hub.holds(session, topic):
            session.say(message)

    def _end_of(self, session: Session, refused: dict[Topic, Refused]) -> None:
        held = [topic for topic in refused if self._hub.holds(session, topic)]
        if held:
            self.ended += len(held)
            self._subscriptions.drop(session, held)
            session.say(messages.ended((format_topic(topic), described(refused[topic])) for topic in held))

    def narrowed(self, session: Session) -> None:
        """Ends what the token that `session` has shown now does not allow."""
        refused = self.authorizer.narrowed(session, self._hub.held(session))
        self._end_of(session, refused)

    def show_tokens(self, session: Session, message: messages.SubscribeMessage, now_s: float, wall_s: float) -> None:
        """Notes which topics of a message its subscription tokens allow. Raises `Refused` for a token that is not taken.

        That is never fatal: the session itself has a good token.
        """
        if not message.tokens:
            return
        if len(message.tokens) > MAX_TOKENS:
            raise Refused("bad-field", f"{len(message.tokens)} tokens in one message; send at most {MAX_TOKENS}")
        session.named_topics += TOKEN_COST * len(message.tokens)
        named = TopicsByPattern(_parsed(message.topics))
        for token in message.tokens:
            bearer, grants = self._bearer(session, token, now_s, wall_s)
            self.authorizer.granted.grant(session, named.allowed_by(grants), now_s + bearer.expires_s + self._leeway_s - wall_s)

    def _bearer(self, session: Session, token: str, now_s: float, wall_s: float) -> tuple[TokenBearer, Grants]:
        try:
            bearer = session.place.check_token(partial(self._verify_subscription, token, wall_s), now_s)
        except RateRefused:
            raise
        except Refused as refused:
            raise Refused("forbidden", f"a token of `tokens` is not taken: {refused.reason}") from None
        if bearer.user != session.user:
            raise Refused("forbidden", f"a token of `tokens` is {bearer.user!r}'s, and this session is {session.user!r}'s")
        if bearer.grants is None:
            raise Refused("forbidden", "a token of `tokens` names no topics")
        return bearer, bearer.grants

    # What they ask.

    def unsubscribe(self, session: Session, topics: list[Topic]) -> None:
        """Ends what `session` holds of `topics`, and what of them waits to be allowed."""
        self.admission.unsubscribed(session, topics)
        self.authorizer.granted.drop(session, topics)
        self.authorizer.left(session, [topic for topic in topics if self._hub.holds(session, topic)])
        self._subscriptions.drop(session, topics)

    def last(self, session: Session, message: messages.LastMessage, now_s: float) -> None:
        """Asks presence for the last events of those feeds that the user may see; the others have none for them."""

        def seen(topics: list[Topic] | Refused) -> None:
            if isinstance(topics, Refused):
                self._relay.refuse(session, message.id, topics)
            else:
                text = messages.last(message.id, [format_topic(topic) for topic in topics])
                self._relay.ask(session, "last", text, message.id, self._time(now_s))

        self._visible.feeds(session, message.topics, now_s, seen)

    def history(self, session: Session, message: messages.HistoryMessage, text: bytes, now_s: float) -> None:
        """Asks the notification module for the past of a topic, if the user may see it."""

        def seen(refused: Refused | None) -> None:
            if refused is not None:
                self._relay.refuse(session, message.id, refused)
            else:
                self._relay.ask(session, "history", text, message.id, self._time(now_s))

        self._visible.one(session, message.topic, now_s, seen)

    def _time(self, now_s: float) -> float:
        return max(now_s, self.authorizer.now_s)

    # The social service.

    def barred(self, frame: Barred, now_s: float) -> None:
        """Takes back what was answered. A pair of a user and the same user is about their private sessions."""
        for owner, user in zip(frame.owners, frame.askers, strict=True):
            if owner == user:
                self.private.changed(user)
        if self._asks_social:
            self.authorizer.barred(frame, now_s)

    def link_up(self, now_s: float) -> None:
        """Notes that a social node is linked: whatever it has changed meanwhile, nobody has told."""
        for user in self._users:
            self.private.changed(user)
        if self._asks_social:
            self.authorizer.link_up(now_s)

    def link_down(self) -> None:
        """Notes that a social node is lost."""
        if self._asks_social:
            self.authorizer.link_down()

    def tick(self, now_s: float) -> None:
        """Ends what has waited too long."""
        over = Refused("token-expired", "the token for this topic has expired; subscribe again with a new one")
        for session, topics in self.authorizer.granted.over(now_s):
            self._end_of(session, dict.fromkeys(topics, over))
        if self._hook is not None:
            self._hook.tick(now_s)
        self.authorizer.tick(now_s)


def _parsed(uris: Iterable[str]) -> Iterator[Topic]:
    """Yields those of `uris` that are topics. What is none is rejected elsewhere."""
    for uri in uris:
        with suppress(Refused):
            yield parse_topic(uri)


def _no_tokens(token: str, wall_s: float) -> TokenBearer:
    raise Refused("forbidden", "subscription tokens are not taken here")
