"""The port of what social remembers besides the graph: linked accounts, contacts, who wants wall posts. External ids come hashed."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple, Protocol

from infra.kernel.errors import Refused

from ..follows import FollowStore
from ..tasks import OutboxTask, TaskOutbox
from .privacy_store import PrivacyStore

# Contacts of one user at one provider, those of all their address books together.
MAX_CONTACTS: Final = 20_000


class KnownContact(NamedTuple):
    """A contact of a user who is a user: the hash of their id, their name, and whether a service vouches that the two know each other."""

    contact: bytes
    user: str
    vouched: bool = False


class Expecting(NamedTuple):
    """A user who has somebody among their contacts, and whether a service vouches that the two know each other."""

    user: str
    vouched: bool = False


class Matches(NamedTuple):
    """The matches of a user at one provider.

    - `contacts`: contacts of the user who are users themselves.
    - `waiting`: users who have this user among their contacts.
    """

    contacts: list[KnownContact]
    waiting: list[Expecting]


class Linked(NamedTuple):
    """The state of a user at one provider: how many contacts, and whether a service has vouched for who the user is there."""

    contacts: int
    is_verified: bool


class SocialStore(Protocol):
    """The store. All methods may raise Unavailable; repeating them is safe."""

    salt: bytes
    """Sixteen random bytes or more, made when the store was."""

    async def link(self, user: str, provider: str, contacts: Sequence[bytes], task: OutboxTask, vouched_id: bytes | None = None) -> None:
        """Notes that `user` knows `contacts` at `provider`. `task` will find what follows from that.

        With a `vouched_id` a service vouches for all of it, and the user is this id from now on, whoever was it before. Contacts
        that were settled before stay so. Raises Refused("too-large") and changes nothing when the user would have more contacts there
        than the store's `max_contacts`.
        """

    async def matches(self, user: str, provider: str, limit: int) -> Matches:
        """Returns what is to be settled for `user` at `provider`, at most `limit` of each sort.

        Users are found by ids that a service has vouched for, and by no others.
        """

    async def settle(self, user: str, provider: str, matches: Matches) -> None:
        """Notes that `matches` have become friends of `user`. They are no matches at `provider` any more, whatever is linked again."""

    async def unlink(self, user: str, provider: str) -> None:
        """Forgets the id of `user`, and their contacts, at `provider`."""

    async def links(self, user: str) -> dict[str, Linked]:
        """Returns provider -> what is remembered of `user` there."""

    async def set_posting(self, user: str, wanted: bool) -> None:
        """Notes whether `user` wants wall posts. A user who has not said so wants none."""

    async def posting(self, user: str) -> bool:
        """Returns whether `user` opted in to wall posts (SB-34)."""

    async def promise(self, tasks: Sequence[OutboxTask]) -> None:
        """Writes `tasks` into the outbox."""


class SocialStores(NamedTuple):
    """The stores of a social service, all in one database."""

    social: SocialStore
    privacy: PrivacyStore
    follows: FollowStore
    outbox: TaskOutbox
    close: Callable[[], Awaitable[None]]


def check_count(count: int, most: int) -> None:
    """Raises `Refused("too-large")` when a user would have `count` contacts at a provider, more than `most`."""
    if count > most:
        raise Refused("too-large", f"{count} contacts at one provider; at most {most} are remembered. Unlink it to begin anew")
