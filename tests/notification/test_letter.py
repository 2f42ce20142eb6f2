"""Mails as they are read: by people, by mail programs, and by those who would misuse them."""

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from html.parser import HTMLParser
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from notification.letter import MAX_LINES, MAX_SUBJECT_CHARS, Line, compose, stable_message_id
from notification.push import push_payload

SENDER = "Segue <notify@example.org>"
URL = "https://segue.example.org/v1/unsubscribe?a=1&token=" + "t" * 230
TS_MS = 1_795_000_000_000
ALBUM = {"artist_name": "Björk", "album_name": "Vulnicura"}
NASTY = '<script>alert(1)</script>"\r\nBcc: eve@example.org\r\n\r\n\u202egpj.exe\x1b[31m'


def album(number: int = 0, payload: dict[str, Any] = ALBUM) -> Line:
    return Line(
        topic="hm://notifications/feed/bjork%new-album/",
        cls="new-album",
        kind="new-album",
        ts_ms=TS_MS + number,
        id=f"e{number}",
        payload=payload,
    )


def change(kind: str, payload: dict[str, Any]) -> Line:
    return Line(topic="hm://playlist/user/ann/playlist/p1/", cls="playlist", kind=kind, ts_ms=TS_MS, id="e1", payload=payload)


def letter(*lines: Line, **changes: Any) -> EmailMessage:
    arguments: dict[str, Any] = {
        "user": "alice",
        "address": "alice@example.org",
        "sender": SENDER,
        "lines": lines,
        "unsubscribe_url": URL,
        "message_id": stable_message_id("alice", SENDER, [line.id for line in lines]),
        "date_ms": TS_MS + 60_000,
    }
    return compose(**(arguments | changes))


def arrived(mail: EmailMessage) -> EmailMessage:
    """Returns the mail after it has been on the wire."""
    policy = SMTP if str(mail["To"]).isascii() else SMTPUTF8
    read = message_from_bytes(mail.as_bytes(policy=policy), EmailMessage, policy=policy)
    assert read.defects == []
    return read


def body(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    assert isinstance(part, EmailMessage)
    return str(part.get_content())


class Tags(HTMLParser):
    """Which tags a page has, where its links lead, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_one_notification_is_told_in_the_subject_as_text_and_as_html() -> None:
    mail = arrived(letter(album()))
    assert mail["Subject"] == "New album by Björk: Vulnicura"
    for kind in ("plain", "html"):
        text = body(mail, kind)
        assert "New album by Björk" in text
        assert "Vulnicura" in text
        assert "18 Nov 2026, 11:06 UTC" in text


def test_a_digest_begins_with_the_newest_and_says_how_many_more_there_are() -> None:
    mail = arrived(letter(*(album(number, {"album_name": f"Album {number:02}"}) for number in range(MAX_LINES + 12))))
    assert mail["Subject"] == "New album by bjork: Album 31 (and 31 more)"
    text = body(mail, "plain")
    assert "and 12 more" in text
    assert "and 12 more" in body(mail, "html")
    assert text.index("Album 31") < text.index("Album 12")
    assert "Album 11" not in text


def test_a_digest_does_not_grow_with_what_it_is_about() -> None:
    many = [album(number, {"album_name": "x" * 10_000}) for number in range(500)]
    assert len(letter(*many).as_bytes()) < 64_000


def test_the_headers_let_programs_unsubscribe_with_one_click_and_keep_robots_from_answering() -> None:
    mail = letter(album())
    raw = mail.as_bytes(policy=SMTP)
    assert f"\r\nList-Unsubscribe: <{URL}>\r\n".encode() in raw
    assert b"\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" in raw
    read = arrived(mail)
    assert read["Auto-Submitted"] == "auto-generated"
    assert read["Date"] == "Wed, 18 Nov 2026 11:07:40 +0000"
    assert (read["From"], read["To"]) == (SENDER, "alice <alice@example.org>")
    assert URL in body(read, "plain")
    assert Tags(body(read, "html")).links == [URL]


def test_a_mail_that_is_composed_again_after_a_crash_is_the_same_to_the_last_byte() -> None:
    assert letter(album(1), album(2)).as_bytes() == letter(album(2), album(1)).as_bytes()


def test_the_message_id_tells_users_and_notifications_apart_and_nothing_else() -> None:
    one = stable_message_id("alice", SENDER, ["e1", "e2"])
    assert one == stable_message_id("alice", SENDER, ["e2", "e1"])
    others = [
        stable_message_id("bob", SENDER, ["e1", "e2"]),
        stable_message_id("alice", SENDER, ["e1"]),
        stable_message_id("alice", SENDER, ["e1e2"]),
    ]
    assert len({one, *others}) == 4
    assert one.endswith("@example.org>")


def test_times_are_told_in_the_zone_of_the_user() -> None:
    mail = letter(album(), zone=ZoneInfo("Asia/Tokyo"))
    assert "18 Nov 2026, 20:06 JST" in body(mail, "plain")


def test_what_strangers_wrote_neither_adds_headers_nor_markup_nor_hides() -> None:
    mail = arrived(letter(album(payload={"artist_name": NASTY, "album_name": NASTY})))
    assert mail["Bcc"] is None
    assert "\u202e" not in mail["Subject"]
    assert "\x1b" not in mail["Subject"]
    page = Tags(body(mail, "html"))
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.text
    assert "\u202e" not in page.text


payloads = st.dictionaries(
    st.sampled_from(["artist_name", "album_name", "title", "friend", "playlist_name", "track_name", "user"]),
    st.text(max_size=200) | st.integers() | st.none() | st.lists(st.text(), max_size=2),
)


@settings(max_examples=25)
@given(
    payloads,
    st.sampled_from(["new-album", "new-track", "artist-playlist", "friend-joined", "new-follower", "playlist", "unheard-of"]),
    st.integers(1, 3),
)
def test_any_payload_makes_a_readable_mail_of_the_same_shape(payload: dict[str, Any], cls: str, count: int) -> None:
    lines = [Line(topic="hm://playlist/user/ann/playlist/p1/", cls=cls, kind="x", ts_ms=TS_MS, id="e", payload=payload)] * count
    mail = arrived(letter(*lines))
    plain = arrived(letter(album()))
    assert mail.keys() == plain.keys()
    assert 0 < len(mail["Subject"]) <= MAX_SUBJECT_CHARS
    assert mail["Subject"].isprintable() or "\u200c" in mail["Subject"] or "\u200d" in mail["Subject"]
    tags = Tags(body(mail, "html")).tags
    assert tags.count("html") == tags.count("style") == tags.count("a") == 1
    assert max(map(len, mail.as_bytes(policy=SMTP).split(b"\r\n"))) <= 998


@settings(max_examples=40)
@given(st.text(st.characters(codec="utf-8"), max_size=30) | st.from_regex(r"[ -~]{1,12}@[ -~]{1,12}", fullmatch=True))
def test_an_address_is_a_single_recipient_or_a_mistake(address: str) -> None:
    try:
        mail = letter(album(), address=address)
    except ValueError:
        return
    assert [recipient.addr_spec for recipient in arrived(mail)["To"].addresses] == [address]


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        ("track-added", {"user": "eve", "playlist_name": "Road", "track_name": "Jóga"}, "eve added a track to the playlist “Road”: Jóga"),
        ("track-removed", {"playlist_name": "Road"}, "ann removed a track from the playlist “Road”"),
        ("renamed", {"playlist_name": "Road"}, "ann renamed the playlist “Road”"),
        ("created", {"name": "Road"}, "ann made the playlist “Road”"),
        ("reordered", {}, "ann changed a playlist"),
        ("playlist", {"by": "eve", "name": "Road", "change": {"op": "add", "tracks": ["t1"]}}, "eve added a track to the playlist “Road”"),
        ("playlist", {"by": "eve", "name": "Road", "change": {"op": "reorder"}}, "eve changed the playlist “Road”"),
        ("playlist", {"by": "eve", "name": "Road", "change": []}, "eve changed the playlist “Road”"),
    ],
)
def test_a_playlist_tells_who_did_what(kind: str, payload: dict[str, Any], expected: str) -> None:
    assert letter(change(kind, payload))["Subject"] == expected


@pytest.mark.parametrize(
    ("cls", "payload", "expected"),
    [
        ("new-track", {"artist": "Björk", "track": "Jóga"}, "New track by Björk: Jóga"),
        ("new-track", {"artist_name": "  ", "track_name": 7}, "New track by bjork"),
        ("artist-playlist", {"artist": "bjork", "name": "Björk", "title": "Demos"}, "New playlist by Björk: Demos"),
        ("friend-joined", {"friend_name": "Ann"}, "Ann has joined"),
        ("friend-joined", {"user": "ann"}, "ann has joined"),
        ("friend-joined", {}, "A friend of yours has joined"),
        ("new-follower", {"user": "ann"}, "ann follows you now"),
        ("new-follower", {}, "Somebody follows you now"),
        ("unheard-of", {"title": "Hello"}, "News for you: Hello"),
    ],
)
def test_what_a_payload_does_not_say_the_topic_says(cls: str, payload: dict[str, Any], expected: str) -> None:
    line = Line(topic="hm://notifications/feed/bjork%new-track/", cls=cls, kind=cls, ts_ms=TS_MS, id="e1", payload=payload)
    assert letter(line)["Subject"] == expected


def test_presence_is_never_mailed_or_pushed() -> None:
    """SB-30: no presence event is ever found in a mail or a push."""
    line = msgspec.structs.replace(album(), topic="hm://presence/user/bob/")
    with pytest.raises(Refused, match="is presence"):
        letter(line)
    with pytest.raises(Refused, match="is presence"):
        push_payload(line)


@pytest.mark.parametrize(
    "wrong",
    [
        {"lines": []},
        {"unsubscribe_url": "https://example.org/\r\nBcc: eve@example.org"},
        {"unsubscribe_url": "https://example.org/>, <https://evil.example"},
        {"unsubscribe_url": "https://exämple.org/"},
        {"address": "alice"},
        {"address": "@example.org"},
        {"address": "alice@"},
        {"address": "alice@example.org, eve@example.org"},
        {"address": "Alice <alice@example.org>"},
        {"address": "alice@[127.0.0.1]"},
        {"address": "alice@example.org\r\nBcc: eve@example.org"},
        {"sender": "Segue <notify@example.org>\r\nBcc: eve@example.org"},
        {"message_id": "<x@example.org>\r\nBcc: eve@example.org"},
    ],
)
def test_an_argument_that_would_break_out_of_its_header_is_a_mistake(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        letter(album(), **wrong)
