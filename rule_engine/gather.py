"""The facts that rules ask about, gathered from what is known of an event and a follower."""

from collections.abc import Container

import msgspec

from infra.kernel.topics import Kind, Topic, kind_of

from .facts import NO_CLASS, PLAYLIST_CLASS, Facts
from .preferences import Preferences, is_muted, quiet_until_ms


class Occasion(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The event that is to be told. `producer`: who did it, a user name or an artist id; "" if nobody did."""

    topic: Topic
    kind: str
    producer: str = ""

    @property
    def cls(self) -> str:
        """The class that preferences are about."""
        return class_of(self.topic)


class Follower(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A user who may be told it, without their preferences; the fields are those of `Facts`."""

    friend: bool = False
    sent: bool = False
    desktop: bool = False
    mobile: bool = False
    mobile_known: bool = False
    webhook_known: bool = False
    mails_recent: int = 0
    pushes_recent: int = 0


def class_of(topic: Topic) -> str:
    """Returns the class of the events of a topic: the type of a feed, "playlist", and none for a user's friend feed."""
    match kind_of(topic):
        case Kind.ARTIST | Kind.SOCIAL:
            return topic.decode().rpartition("%")[2]
        case Kind.PLAYLIST:
            return PLAYLIST_CLASS
        case Kind.USER | Kind.INBOX:
            return NO_CLASS


def gather(preferences: Preferences, occasion: Occasion, follower: Follower, now_ms: int, mandatory: Container[str] = ()) -> Facts:
    """Returns the facts at Unix time `now_ms`, about `occasion` for `follower` who has these `preferences`.

    `mandatory`: the classes that nobody can opt out of (`Settings.mandatory`).
    """
    cls = occasion.cls
    # Facts hold no time and no name, only what rules can ask: so many followers have equal ones, and `RuleSet` decides once for them.
    return Facts(
        topic=kind_of(occasion.topic),
        cls=cls,
        kind=occasion.kind,
        friend=follower.friend,
        sent=follower.sent,
        desktop=follower.desktop,
        mobile=follower.mobile,
        mobile_known=follower.mobile_known,
        email_known=preferences.email is not None,
        webhook_known=follower.webhook_known,
        in_client_off=not preferences.allows(cls, "in-client"),
        push_off=not preferences.allows(cls, "push"),
        email_off=not preferences.allows(cls, "email"),
        webhook_off=not preferences.allows(cls, "webhook"),
        muted=is_muted(preferences, occasion.topic, occasion.producer),
        mandatory=cls in mandatory,
        quiet=quiet_until_ms(preferences, now_ms) is not None,
        digest=preferences.digest != "off",
        mails_recent=follower.mails_recent,
        pushes_recent=follower.pushes_recent,
    )
