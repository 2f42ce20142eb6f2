"""Access: which user may see what is published on a topic, live or stored, and who may edit a playlist. Pure.

This is the one policy. Facts go in, and the rule that forbids it comes out, if any does. Code that follows a topic for a user, or shows a
user what another one does, asks here first. `docs/authorization.md` has the table of all answers.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from .errors import Refused
from .readable import LAST_EXACT
from .topics import Kind, Topic, kind_of, owner_of, user_of

# Until a private session ends that has no end of its own, and how many hours another one may last: a year.
FOREVER_MS: Final = LAST_EXACT
MAX_PRIVATE_HOURS: Final = 8_784
HOUR_MS: Final = 3_600_000
# One question who may see what is about so many topics, or so many users, at most.
MAX_ASKED: Final = 2_000


class Relation(StrEnum):
    """The relation of a user who asks to the owner of a topic.

    - `friends`: both follow each other.
    - `follower`: the user follows the owner, and not the other way round.
    - `blocked`: one of them blocks the other, whoever that is.
    """

    SELF = "self"
    FRIENDS = "friends"
    FOLLOWER = "follower"
    STRANGER = "stranger"
    BLOCKED = "blocked"


class Listening(StrEnum):
    """The setting of a user that says who sees what they play."""

    EVERYONE = "everyone"
    FOLLOWERS = "followers"
    FRIENDS = "friends"
    NOBODY = "nobody"


class Visibility(StrEnum):
    """The setting of a playlist that says who sees it."""

    PRIVATE = "private"
    FOLLOWERS = "followers"
    PUBLIC = "public"


class AccessFacts(NamedTuple):
    """All that the policy needs to know about a user, and about the owner of a topic.

    - `listening`: who sees what the owner plays; it counts for their friend feed only.
    - `visibility`: who sees the playlist; it counts for a playlist only.
    - `is_editor`: the owner has put the user on the list of editors of this playlist.
    """

    relation: Relation
    listening: Listening = Listening.FRIENDS
    visibility: Visibility = Visibility.PUBLIC
    is_editor: bool = False


class AccessRule(NamedTuple):
    """A rule of the policy.

    - `number`: of the id AUTH-n.
    - `text`: what the rule says.
    - `reason`: what a user is told whom it forbids something; `{owner}` is whose topic it is.
    """

    number: int
    text: str
    reason: str

    @property
    def id(self) -> str:
        """The id, as tests and `docs/authorization.md` name it."""
        return f"AUTH-{self.number}"


# A blocked user must not find out. So they are told what everybody is told whom a setting keeps out, whatever the setting is.
_NO_LISTENING: Final = "{owner} does not show you what they play"
_NO_PLAYLIST: Final = "there is no playlist of {owner} here that you may see"

RULES: Final = (
    AccessRule(
        number=1,
        text="Nobody names an inbox. Users get their own without asking.",
        reason="nobody names an inbox: what is stored for you comes without asking (segue listen --notifications)",
    ),
    AccessRule(number=2, text="All other topics of a user are theirs to see.", reason=""),
    AccessRule(
        number=3,
        text="The feed of a user's friends who have joined is for this user alone.",
        reason="which friends of {owner} have joined is told to {owner} alone",
    ),
    AccessRule(number=4, text="If one of two users blocks the other, neither sees anything of the other.", reason=_NO_LISTENING),
    AccessRule(
        number=5,
        text="What a user plays is seen by those whom they let see it: everyone, followers, friends, or nobody.",
        reason=_NO_LISTENING,
    ),
    AccessRule(
        number=6,
        text="A playlist is seen by those whom its owner lets see it: everybody, followers, or nobody; and by its editors.",
        reason=_NO_PLAYLIST,
    ),
    AccessRule(
        number=7,
        text="A collaborative playlist is edited by those on its list of editors; without a list by all who may see it.",
        reason="{owner} has not asked you to edit this playlist",
    ),
    AccessRule(
        number=8,
        text="What is played in a private session is seen by nobody.",
        reason="{owner} does not show what they play now",
    ),
    AccessRule(number=9, text="Artists are seen by everybody.", reason=""),
    AccessRule(
        number=10,
        text="What no rule allows is refused; so is what nobody can be asked about.",
        reason="no rule allows you to see this",
    ),
)
"""The rules AUTH-1 to AUTH-10, in this order."""

INBOX_RULE, _, JOINED_RULE, BLOCK_RULE, LISTENING_RULE, PLAYLIST_RULE, EDITOR_RULE, _, _, CLOSED_RULE = RULES

_FOLLOWERS: Final = frozenset({Relation.FOLLOWER, Relation.FRIENDS})
_UNBLOCKED: Final = _FOLLOWERS | {Relation.STRANGER}
_HEAR: Final = {
    Listening.EVERYONE: _UNBLOCKED,
    Listening.FOLLOWERS: _FOLLOWERS,
    Listening.FRIENDS: frozenset({Relation.FRIENDS}),
    Listening.NOBODY: frozenset[Relation](),
}
_SEE: Final = {
    Visibility.PUBLIC: _UNBLOCKED,
    Visibility.FOLLOWERS: _FOLLOWERS,
    Visibility.PRIVATE: frozenset[Relation](),
}


def verdict(kind: Kind, facts: AccessFacts) -> AccessRule | None:
    """Returns the rule that forbids a user to see a topic of `kind`; None if they may see it."""
    if kind is Kind.INBOX:
        return INBOX_RULE
    if kind is Kind.ARTIST or facts.relation is Relation.SELF:
        return None
    if kind is Kind.SOCIAL:
        return JOINED_RULE
    if facts.relation is Relation.BLOCKED:
        return BLOCK_RULE
    if kind is Kind.USER:
        return None if facts.relation in _HEAR[facts.listening] else LISTENING_RULE
    if kind is Kind.PLAYLIST:
        return None if facts.is_editor or facts.relation in _SEE[facts.visibility] else PLAYLIST_RULE
    return CLOSED_RULE


def edit_verdict(facts: AccessFacts, *, collaborative: bool, has_editors: bool) -> AccessRule | None:
    """Returns the rule that forbids a user to edit a playlist; None if they may.

    `has_editors`: there is a list of editors, whether this user is on it or not.
    """
    if facts.relation is Relation.SELF:
        return None
    if (rule := verdict(Kind.PLAYLIST, facts)) is not None:
        return rule
    return None if collaborative and (facts.is_editor or not has_editors) else EDITOR_RULE


def refusal(rule: AccessRule, topic: Topic) -> Refused:
    """Returns the answer to a user whom `rule` forbids something about `topic`. It never tells that somebody blocks somebody."""
    if rule is BLOCK_RULE and kind_of(topic) is Kind.PLAYLIST:
        rule = PLAYLIST_RULE
    return Refused("forbidden", rule.reason.format(owner=owner_of(topic)))


def rule_of(number: int) -> AccessRule:
    """Returns the rule AUTH-`number`; AUTH-10 for a number that is unknown here, as one of a newer version may be."""
    return RULES[number - 1] if 1 <= number <= len(RULES) else CLOSED_RULE


def private_until_ms(now_ms: float, hours: float | None) -> int:
    """Returns until when a private session lasts that begins at `now_ms`: for `hours`, or until it is ended (AUTH-8). Times are Unix ms."""
    return FOREVER_MS if hours is None else int(now_ms + hours * HOUR_MS)


def check_may_see(user: str, topic: Topic) -> None:
    """Raises `Refused("forbidden")` for what is forbidden whatever the facts are (AUTH-1, AUTH-3). It is asked first everywhere."""
    kind = kind_of(topic)
    if kind is Kind.INBOX:
        raise refusal(INBOX_RULE, topic)
    if kind is Kind.SOCIAL and user_of(topic) != user:
        raise refusal(JOINED_RULE, topic)


def is_own(user: str, topic: Topic) -> bool:
    """Returns whether `topic` is of `user` (AUTH-2). An artist's feed is nobody's, also where a user has the name of the artist."""
    return owner_of(topic) == user and kind_of(topic) is not Kind.ARTIST


def is_everybodys(user: str, topic: Topic) -> bool:
    """Returns whether `user` may see `topic` whatever the facts are, so that nobody has to be asked (AUTH-2, AUTH-9)."""
    kind = kind_of(topic)
    return kind is Kind.ARTIST or (kind is not Kind.INBOX and is_own(user, topic))
