"""Follows end when a playlist may not be seen any more: of one user or of all, of one playlist or of all of an owner."""

from collections import defaultdict
from pathlib import Path

import msgspec
import pytest

from infra.kernel.errors import Refused
from infra.kernel.topics import parse_topic
from tests.services.playlist.site import Site, site, uri


async def prune(s: Site, owner: str, **asked: str) -> int:
    """Has all pages done; returns how many there were."""
    pages, after = 0, ""
    while True:
        pages += 1
        following = msgspec.json.decode(await s.call(owner, "prune", asked | {"after": after}))["next"]
        if following is None:
            return pages
        after = following


async def follows(s: Site) -> dict[str, set[str]]:
    """Returns user -> ids of the playlists of ann and ann2 that they follow."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in ("ann/p", "ann/q", "ann2/p"):
        topic = parse_topic(uri(path))
        for user in (await s.service.work.stores.follows.followers(topic)).items:
            found[user].add(path)
    return found


async def made(s: Site) -> None:
    for owner, playlist_id in (("ann", "p"), ("ann", "q"), ("ann2", "p")):
        await s.create(owner, playlist_id)
        for user in ("bob", "cyd"):
            await s.ask(user, "PUT", f"/v1/playlists/{owner}/{playlist_id}/follow")
    await s.quiet()
    for path in ("ann/p", "ann/q", "ann2/p"):
        s.barred[parse_topic(uri(path))] = {"bob"}


async def test_of_one_playlist_all_who_may_not_see_it_are_taken_off(tmp_path: Path) -> None:
    """AUTH-6."""
    async with site(tmp_path) as s:
        await made(s)
        await prune(s, "ann", playlist="p")
        assert await follows(s) == {"bob": {"ann/q", "ann2/p"}, "cyd": {"ann/p", "ann/q", "ann2/p"}}


async def test_of_one_user_all_playlists_of_the_owner_are_taken_off_and_no_others(tmp_path: Path) -> None:
    """AUTH-4: also of an owner whose name only begins alike."""
    async with site(tmp_path) as s:
        await made(s)
        for user in ("bob", "cyd"):
            await prune(s, "ann", user=user)
        assert await follows(s) == {"bob": {"ann2/p"}, "cyd": {"ann/p", "ann/q", "ann2/p"}}


async def test_of_one_user_and_one_playlist_nothing_else_changes(tmp_path: Path) -> None:
    """AUTH-7: an editor who is taken off the list of a private playlist."""
    async with site(tmp_path) as s:
        await made(s)
        await prune(s, "ann", user="bob", playlist="q")
        await prune(s, "ann", user="cyd", playlist="q")
        assert await follows(s) == {"bob": {"ann/p", "ann2/p"}, "cyd": {"ann/p", "ann/q", "ann2/p"}}


async def test_many_followers_and_many_playlists_are_done_in_pages(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        await made(s)
        store = s.service.work.stores.follows
        crowd = [f"u{n:04}" for n in range(1500)]
        await store.add_followers(parse_topic(uri("ann/p")), crowd)
        s.barred[parse_topic(uri("ann/p"))] = {"bob", *crowd[:700], *crowd[1400:]}
        assert await prune(s, "ann", playlist="p") == 2
        assert await store.count(parse_topic(uri("ann/p"))) == 701
        many = [parse_topic(uri(f"ann/m{n:04}")) for n in range(1500)]
        await store.add("cyd", many)
        s.barred |= {topic: {"cyd"} for topic in many[::2]}
        assert await prune(s, "ann", user="cyd") == 2
        assert (await store.followed("cyd", many)) == set(many[1::2])


@pytest.mark.parametrize("asked", [{}, {"user": "a b"}, {"playlist": "a/b"}, {"user": "bob", "playlist": "a/b"}])
async def test_a_request_that_names_nobody_and_nothing_is_refused(tmp_path: Path, asked: dict[str, str]) -> None:
    async with site(tmp_path) as s:
        with pytest.raises(Refused, match="bad-"):
            await s.call("ann", "prune", asked)
