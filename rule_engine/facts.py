"""Facts: all that rules may ask about one event and one of its followers. The words of the rule files (`docs/rules.md`)."""

from typing import Final, NamedTuple

import msgspec

from infra.kernel.topics import ARTIST_TYPES, SOCIAL_TYPES, Kind

PLAYLIST_CLASS: Final = "playlist"
CLASSES: Final = (*ARTIST_TYPES, *SOCIAL_TYPES, PLAYLIST_CLASS)
# Events of a user topic have no class: nothing but the friend feed carries them, so there is nothing to opt out of.
NO_CLASS: Final = ""
CLASSES_OF: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.USER: (NO_CLASS,),
    Kind.PLAYLIST: (PLAYLIST_CLASS,),
    Kind.ARTIST: ARTIST_TYPES,
    Kind.SOCIAL: SOCIAL_TYPES,
}


class Facts(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """The facts about one event and one follower.

    - `topic`, `class`, `kind`: of the event.
    - `friend`: the follower is a friend of the owner of the playlist.
    - `sent`: the event went through the engine already (spec 6, `rt_sent`).
    - `desktop`, `mobile`: the follower is online there now.
    - `mobile_known`, `email_known`, `webhook_known`: there is a push subscription, an address, a webhook.
    - `*_off`: the follower has opted out of this channel for this class.
    - `muted`: the follower has muted what the event is about.
    - `mandatory`: nobody can opt this class out of the list of notifications.
    - `quiet`: it is within the follower's quiet hours.
    - `digest`: the follower wants mails collected.
    - `*_recent`: how many were sent to the follower within `Settings.throttle_window_s`.
    """

    topic: Kind
    cls: str = msgspec.field(name="class", default=NO_CLASS)
    kind: str = ""
    friend: bool = False
    sent: bool = False
    desktop: bool = False
    mobile: bool = False
    mobile_known: bool = False
    email_known: bool = False
    webhook_known: bool = False
    in_client_off: bool = False
    push_off: bool = False
    email_off: bool = False
    webhook_off: bool = False
    muted: bool = False
    mandatory: bool = False
    quiet: bool = False
    digest: bool = False
    mails_recent: int = 0
    pushes_recent: int = 0


class Fact(NamedTuple):
    """A word of the rule files.

    - `attribute`: where its value is in `Facts`.
    - `type`: `bool`, `int` or `str`.
    - `values`: the texts that it can be; none: any.
    """

    attribute: str
    type: type
    values: tuple[str, ...]


# An inbox carries verdicts; nothing is decided about it.
_VALUES: Final = {"topic": tuple(map(str, CLASSES_OF)), "class": CLASSES}

FACTS: Final[dict[str, Fact]] = {
    field.encode_name: Fact(field.name, str if field.type is Kind else field.type, _VALUES.get(field.encode_name, ()))
    for field in msgspec.structs.fields(Facts)
}
# What to write for a value, in complaints.
EXAMPLES: Final[dict[type, str]] = {bool: "true or false", str: "a text", int: "a whole number"}
