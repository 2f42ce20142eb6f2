"""The port of what social remembers besides the graph: linked accounts, contacts, who wants wall posts. External ids come hashed."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple, Protocol

from infra.kernel.errors import Refused

from ..follows import FollowStore
from ..tasks import OutboxTask, TaskOutbox

# Contacts of one user at one provider, those of all their address books together.
MAX_CONTACTS: Final = 20_000


class Matches(NamedTuple):
    """The matches of a user at one provider.

    - `contacts`: hash and name of contacts of the user who are users themselves.
    - `waiting`: users who have this user among their contacts.
    """

    contacts: list[tuple[bytes, str]]
    waiting: list[str]


class SocialStore(Protocol):
    """The store. All methods may raise Unavailable; repeating them is safe."""

    salt: bytes
    """Sixteen random bytes or more, made when the store was."""

    async def link(self, user: str, provider: str, me: bytes, contacts: Sequence[bytes], task: OutboxTask) -> None:
        """Notes that `user` is `me` at `provider` and knows `contacts`. `task` will find what follows from that.

        Contacts that were settled before stay so. Raises `Refused` and changes nothing:

        - conflict when `me` is another user's, or when this user has linked another id there;
        - too-large when the user would have more contacts there than the store's `max_contacts`.
        """

    async def matches(self, user: str, provider: str, limit: int) -> Matches:
        """Returns what is to be settled for `user` at `provider`, at most `limit` of each sort."""

    async def settle(self, user: str, provider: str, matches: Matches) -> None:
        """Notes that `matches` have become friends of `user`. They are no matches at `provider` any more, whatever is linked again."""

    async def unlink(self, user: str, provider: str) -> None:
        """Forgets the id of `user`, and their contacts, at `provider`."""

    async def links(self, user: str) -> dict[str, int]:
        """Returns provider -> number of contacts that are remembered."""

    async def set_posting(self, user: str, wanted: bool) -> None:
        """Notes whether `user` wants wall posts. A user who has not said so wants none."""

    async def posting(self, user: str) -> bool:
        """Returns whether `user` opted in to wall posts (SB-34)."""

    async def promise(self, tasks: Sequence[OutboxTask]) -> None:
        """Writes `tasks` into the outbox."""


class SocialStores(NamedTuple):
    """The stores of a social service, all in one database."""

    social: SocialStore
    follows: FollowStore
    outbox: TaskOutbox
    close: Callable[[], Awaitable[None]]


def check_count(count: int, most: int) -> None:
    """Raises `Refused("too-large")` when a user would have `count` contacts at a provider, more than `most`."""
    if count > most:
        raise Refused("too-large", f"{count} contacts at one provider; at most {most} are remembered. Unlink it to begin anew")


def check_claim(provider: str, me: bytes, mine: bytes | None) -> None:
    """Raises `Refused("conflict")` unless `me` is what the user has linked at `provider` (None: nothing)."""
    if mine is None:
        raise Refused("conflict", f"this id at {provider} is linked to another user")
    if mine != me:
        raise Refused("conflict", f"another id at {provider} is linked; unlink it first: DELETE /v1/social/links/{provider}")
