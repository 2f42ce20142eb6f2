"""The letters in a mailbox."""

from zoneinfo import ZoneInfo

import pytest

from notification.letter import Line, compose
from segue.mailbox.letters import Letters

TOPIC = "hm://notifications/feed/bjork%new-album/"
LINK = "http://127.0.0.1:7720/v1/unsubscribe/x"


def mail(album: str) -> bytes:
    """Returns a mail as the notification module makes it."""
    line = Line(topic=TOPIC, cls="new-album", kind="album", ts_ms=0, id=album, payload={"artist_name": "Björk", "album": album})
    return bytes(compose("ann", "ann@example.org", "Segue <a@example.org>", [line], LINK, "<1@example.org>", 0, ZoneInfo("UTC")))


def test_a_letter_has_what_its_mail_says() -> None:
    letters = Letters(lambda: 7.5)
    letters.take(["ann@example.org"], mail("Póst <b>"))
    letter = letters.get(1)
    assert letter is not None
    assert (letter.subject, letter.sender, letter.to) == ("New album by Björk: Póst <b>", "Segue <a@example.org>", ["ann@example.org"])
    assert (letter.unsubscribe, letter.ts) == (LINK, 7500)
    assert "Póst <b>" in letter.text
    assert "Póst &lt;b&gt;" in letter.html
    assert "List-Unsubscribe" in letter.source


def test_the_newest_are_kept_and_come_first() -> None:
    letters = Letters(lambda: 0.0, most=2)
    for album in ("Debut", "Post", "Homogenic"):
        letters.take(["ann@example.org"], mail(album))
    assert [each.id for each in letters.summaries()] == [3, 2]
    assert letters.get(1) is None


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\xff\xfe\x00",
        b"no header at all",
        b"Subject: =?broken?q?x?=\r\nFrom: <<<>\r\nList-Unsubscribe: \r\n\r\n",
        b'Content-Type: text/html; charset="nonsense"\r\n\r\n\xff',
        b"Content-Type: multipart/alternative\r\n\r\nno boundary",
        b"Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n%%%",
    ],
)
def test_what_is_no_mail_shows_as_its_source(source: bytes) -> None:
    letters = Letters(lambda: 0.0)
    letters.take(["ann@example.org"], source)
    letter = letters.get(1)
    assert letter is not None
    assert letter.source == source.decode(errors="replace")
