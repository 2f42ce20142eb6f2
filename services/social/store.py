"""What social remembers besides the graph: linked accounts, contacts, who wants wall posts. External ids come hashed."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple, Protocol

from infra.kernel.errors import Refused

from ..follows import FollowStore
from ..tasks import OutboxTask, TaskOutbox

# Contacts of one user at one provider, those of all his address books together.
MAX_CONTACTS: Final = 20_000


class Matches(NamedTuple):
    """Pairs of hash and user: contacts of a user who are users themselves, and users who remembered him as a contact."""

    contacts: list[tuple[bytes, str]]
    waiting: list[str]


class SocialStore(Protocol):
    """All methods may raise Unavailable; repeating them is safe."""

    salt: bytes
    """Sixteen random bytes or more, made when the store was."""

    async def link(self, user: str, provider: str, me: bytes, contacts: Sequence[bytes], task: OutboxTask) -> None:
        """`me` is `user` at `provider` from now on, he knows `contacts`, and `task` will find what follows from it. Contacts that
        were settled before stay so. Raises `Refused` and changes nothing: conflict when `me` is another user's, or when this
        user has linked another id there; too-large when he would have more contacts there than the store's `max_contacts`."""

    async def matches(self, user: str, provider: str, limit: int) -> Matches:
        """What is to be settled, at most `limit` of each."""

    async def settle(self, user: str, provider: str, matches: Matches) -> None:
        """These have become friends: they are no matches any more, whatever is linked again."""

    async def unlink(self, user: str, provider: str) -> None:
        """Forget the user's id and his contacts at `provider`."""

    async def links(self, user: str) -> dict[str, int]:
        """Provider -> number of contacts that are remembered."""

    async def set_posting(self, user: str, wanted: bool) -> None:
        """Whether `user` wants wall posts; nobody does who has not said so."""

    async def posting(self, user: str) -> bool:
        """Whether `user` opted in to wall posts (SB-34)."""

    async def promise(self, tasks: Sequence[OutboxTask]) -> None:
        """Write `tasks` into the outbox."""


class SocialStores(NamedTuple):
    """All that a social service keeps, in one database."""

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
