"""infra.runtime.revocation_book: when a node knows everything, and who is told."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest
from structlog.testing import capture_logs

from infra.kernel.frames import HIGHEST_TAG, Frame, Hello, Revoked, View
from infra.kernel.revocations import Ban, Entry, Revocation
from infra.runtime.link import Link
from infra.runtime.logs import get_logger
from infra.runtime.revocation_book import PORTION, RevocationBook
from infra.runtime.tokens import Identity
from tests.support.recording_wire import RecordingWire

NOW_S = 1_700_000_000.0
OLD = Hello("broker", "b1", "sto", 1, 0, View(0, ()))
NEW = msgspec.structs.replace(OLD, tags=HIGHEST_TAG)


class Told:
    """A link to `peer`, and what was sent on it."""

    def __init__(self, peer: Hello) -> None:
        self._wire = RecordingWire()
        self.link = Link(self._wire, peer, None, 0.0, lambda link: None)

    @property
    def frames(self) -> list[Frame]:
        self.link.flush()
        return self._wire.sent


def revoked(number: int) -> Revocation:
    return Revocation("user", f"u{number}", int(NOW_S * 1000), int(NOW_S * 1000) + 60_000)


@pytest.fixture
def book() -> RevocationBook:
    return RevocationBook(lambda: NOW_S)


@pytest.fixture
def news(book: RevocationBook) -> list[Sequence[Entry]]:
    """Returns what hearers were told, as it grows."""
    heard: list[Sequence[Entry]] = []
    book.on_news(heard.append)
    return heard


def test_a_book_is_whole_when_a_peer_has_said_the_last_of_what_it_knew(book: RevocationBook, news: list[Sequence[Entry]]) -> None:
    """DPS-28: without news, too, hearers are told that."""
    book.learn(Revoked([revoked(1)], [], last=False))
    assert (book.is_whole, news) == (False, [[revoked(1)]])
    book.learn(Revoked([revoked(1)], [], last=True))
    assert (book.is_whole, news[1:]) == (True, [[]])
    book.learn(Revoked([], [], last=True))
    assert len(news) == 2


def test_a_book_is_whole_where_the_peer_knows_nothing_of_revocations(book: RevocationBook, news: list[Sequence[Entry]]) -> None:
    book.meet(Told(NEW).link)
    assert (book.is_whole, news) == (False, [])
    for _ in range(2):
        book.meet(Told(OLD).link)
    assert (book.is_whole, [*map(list, news)]) == (True, [[]])


def test_a_peer_is_told_everything_in_portions_and_the_last_one_says_so(book: RevocationBook) -> None:
    peer, old = Told(NEW), Told(OLD)
    ban = Ban("dan", 1, int(NOW_S * 1000) + 1, 0)
    book.merge([*map(revoked, range(PORTION)), ban])
    book.begin()
    for each in (peer, old):
        book.tell_all(each.link)
    first, second = peer.frames
    assert isinstance(first, Revoked)
    assert (len(first.revocations), first.last) == (PORTION, False)
    assert second == Revoked([], [ban], last=True)
    assert old.frames == []


def test_one_that_does_not_know_all_yet_does_not_say_that_it_has_said_all(book: RevocationBook) -> None:
    peer = Told(NEW)
    book.tell_all(peer.link)
    assert peer.frames == [Revoked([], [], last=False)]


def test_who_is_in_the_book_is_refused(book: RevocationBook) -> None:
    """DPS-28."""
    book.add(revoked(1))
    refusals = [book.refusal(Identity(user, NOW_S + 60, issued_s=NOW_S - 1)) for user in ("u1", "u2")]
    assert [each and each.code.name for each in refusals] == ["token-revoked", None]


async def test_who_waits_for_a_book_goes_on_when_it_is_whole(book: RevocationBook) -> None:
    with capture_logs() as logs:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(book.heard(get_logger("playlist", "l1", "sto")))
            await asyncio.sleep(0)
            book.learn(Revoked([], [], last=True))
    assert logs == []


async def test_who_waits_for_a_book_that_nobody_completes_goes_on_and_says_so(
    book: RevocationBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.runtime.revocation_book.PATIENCE_S", 0.0)
    with capture_logs() as logs:
        await book.heard(get_logger("playlist", "l1", "sto"))
    assert [(line["log_level"], line["waited_s"]) for line in logs] == [("warning", 0.0)]
    assert not book.is_whole
