"""The decisions of social: how external ids are remembered, and by which ids repetitions are known. Pure."""

import unicodedata
from collections.abc import Iterable
from hashlib import blake2b
from typing import Annotated, Final

import msgspec

from infra.kernel.access import MAX_PRIVATE_HOURS
from infra.kernel.topics import MAX_ID, Topic, parse_topic

MAX_AT_ONCE: Final = 5000
MAX_EXTERNAL: Final = 320  # the longest mail address
HASH_BYTES: Final = 16

Name = Annotated[str, msgspec.Meta(pattern=rf"^[A-Za-z0-9._-]{{1,{MAX_ID}}}\Z")]
Provider = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{0,31}\Z")]
EventId = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._:-]{1,64}\Z")]
EventKind = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{0,31}\Z")]
ClientName = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID)]
# Who wants more says nothing, and it lasts until they end it.
Hours = Annotated[float, msgspec.Meta(gt=0, le=MAX_PRIVATE_HOURS)]
ExternalId = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_EXTERNAL)]


ExternalIds = Annotated[list[ExternalId], msgspec.Meta(max_length=MAX_AT_ONCE)]


class Contacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An address book, as a client sends it. `me` is the caller's own id there: it is left out of the contacts, and not believed."""

    contacts: ExternalIds
    me: ExternalId | None = None


class VouchedContacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A book that a service brings from a provider: the user's own id, and whom the provider says that they know there."""

    me: ExternalId
    contacts: ExternalIds = []


def joined_topic(user: str) -> Topic:
    """Returns the feed that tells `user` which of their friends have joined."""
    return parse_topic(f"hm://notifications/feed/{user}%friend-joined/")


def followers_topic(user: str) -> Topic:
    """Returns the feed that tells `user` who has begun to follow them."""
    return parse_topic(f"hm://notifications/feed/{user}%new-follower/")


def hashed(salt: bytes, provider: str, external_id: str) -> bytes:
    """Returns what is remembered of an external id at `provider`.

    Without the `salt` of the store nobody can try out which mail address it was.
    """
    # People write one address in several ways; all of them must be one contact.
    plain = unicodedata.normalize("NFKC", external_id).strip().casefold()
    return blake2b(f"{provider}\0{plain}".encode(), digest_size=HASH_BYTES, key=salt).digest()


def hashed_contacts(salt: bytes, provider: str, me: bytes | None, contacts: Iterable[str]) -> list[bytes]:
    """Returns the hash of each of `contacts` once, in the order given, without the caller, whose own hash is `me` if it is known."""
    hashes = dict.fromkeys(hashed(salt, provider, contact) for contact in contacts)
    return [each for each in hashes if each != me]


def digest(*parts: str) -> str:
    """Returns a text that is the same for the same parts."""
    return blake2b("\0".join(parts).encode(), digest_size=HASH_BYTES).hexdigest()
