"""broker.revocation_store: what was kept is there after a restart, each entry once."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker.revocation_store import RevocationStore
from infra.kernel.errors import ConfigError
from infra.kernel.revocations import LAST_MS, Ban, Entry, Revocation

REVOKED = Revocation("user", "ann", 1_000, 5_000)
BANNED = Ban("ann", 2_000, 9_000, 9_000)
LIFTED = Ban("bob", 3_000, 0, 9_000)
ALL: list[Entry] = [
    REVOKED,
    Revocation("service", "shop", 1_000, 5_000),
    Revocation("token", "3f2a:%7E~", 0, LAST_MS),
    BANNED,
    LIFTED,
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "revocations-b1.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[RevocationStore]:
    store = await RevocationStore.open(path)
    yield store
    await store.close()


async def reread(path: Path) -> set[Entry]:
    """Returns what a broker finds that starts now."""
    store = await RevocationStore.open(path)
    entries = await store.entries()
    await store.close()
    assert len(entries) == len(set(entries))
    return set(entries)


async def test_a_new_store_is_empty(store: RevocationStore) -> None:
    assert await store.entries() == []


async def test_what_was_kept_is_there_after_a_restart_as_it_was(store: RevocationStore, path: Path) -> None:
    """DPS-25: revocations of all kinds, bans, and bans that are lifted."""
    await store.keep(ALL)
    await store.close()
    assert await reread(path) == set(ALL)


async def test_what_was_kept_is_on_the_disk_before_the_store_is_closed(store: RevocationStore, path: Path) -> None:
    """DPS-25: a broker that dies has forgotten nothing that an operator was told of."""
    await store.keep([REVOKED])
    assert await reread(path) == {REVOKED}


async def test_a_later_decision_takes_the_place_of_the_one_about_the_same(store: RevocationStore, path: Path) -> None:
    """DPS-25: a ban that is lifted does not come back with a restart; the tokens of that user stay revoked."""
    await store.keep([REVOKED, BANNED])
    lifted, later = Ban("ann", 4_000, 0, 9_000), Revocation("user", "ann", 7_000, 8_000)
    await store.keep([lifted, later])
    assert await reread(path) == {lifted, later}


async def test_kinds_of_the_same_name_are_different_entries(store: RevocationStore, path: Path) -> None:
    same: set[Entry] = {
        Revocation("user", "ann", 1, 2),
        Revocation("service", "ann", 1, 2),
        Revocation("token", "ann", 1, 2),
        Ban("ann", 1, 2, 2),
    }
    await store.keep(same)
    assert await reread(path) == same


async def test_what_is_over_is_removed_and_nothing_else(store: RevocationStore, path: Path) -> None:
    await store.keep(ALL)
    await store.forget([REVOKED, LIFTED, Revocation("user", "nobody", 1, 2)])
    assert await reread(path) == set(ALL) - {REVOKED, LIFTED}


async def test_nothing_to_keep_and_nothing_to_forget_are_no_errors(store: RevocationStore) -> None:
    await store.keep([])
    await store.forget([])
    assert await store.entries() == []


async def test_as_many_as_a_node_keeps_at_all_are_kept_at_once(store: RevocationStore, path: Path) -> None:
    many = {Revocation("token", f"t{number}", 1, number) for number in range(2_500)}
    await store.keep(many)
    assert await reread(path) == many


async def test_closing_twice_is_closing_once(store: RevocationStore) -> None:
    await store.close()
    await store.close()


@pytest.fixture
def nonsense(path: Path) -> Iterator[Path]:
    """A file that is no database, and is not changed."""
    path.write_bytes(b"no database" * 100)
    yield path
    assert path.read_bytes() == b"no database" * 100


async def test_a_file_that_is_something_else_is_refused_and_left_alone(nonsense: Path) -> None:
    """DPS-25: a broker that cannot read who was kept out does not start, and lets nobody in."""
    with pytest.raises(ConfigError, match=nonsense.name):
        await RevocationStore.open(nonsense)
