"""Webhooks: endpoints, secrets and signatures."""

import json

import pytest

from infra.kernel.errors import Refused
from infra.kernel.public_address import parse_network
from notification.notice import Notice
from notification.webhook import Webhook, body_of, channel_of, check_url, headers_of, message_id_of, secret_from, webhook_id_of

HERE = (parse_network("private", "127.0.0.0/8"), parse_network("private", "10.1.0.0/16"))
WEBHOOK = Webhook("a1", "https://app.example.org/", "whsec_new", "", 0, 5)


def test_a_signature_is_that_of_standard_webhooks() -> None:
    """The example of the reference implementations."""
    body = b'{"test": 2432232314}'
    headers = headers_of("msg_p5jXN8AQM9LWM0D4loKWxJek", ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], 1614265330.7, body)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == ("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330")


def test_a_secret_that_was_replaced_signs_for_a_day() -> None:
    rotated = WEBHOOK._replace(secret="whsec_old").rotated("whsec_new", 1000)
    assert rotated.secrets_at(1000) == ["whsec_new", "whsec_old"]
    assert rotated.secrets_at(1000 + 86_400_000) == WEBHOOK.secrets_at(0) == ["whsec_new"]
    assert len(headers_of("m", [secret_from(b"1" * 24), secret_from(b"2" * 24)], 0, b"")["webhook-signature"].split(" ")) == 2


def test_a_message_says_what_happened_and_has_one_id() -> None:
    topic = "hm://notifications/feed/bjork%new-album/"
    notice = Notice("post-1", "artist", topic, "album", "bjork", b'{"album":"Post"}', 1_700_000_000_123, "digest")
    assert json.loads(body_of("ann", notice)) == {
        "type": "notification",
        "timestamp": "2023-11-14T22:13:20.123Z",
        "data": {
            "user": "ann",
            "topic": topic,
            "class": "new-album",
            "kind": "album",
            "ts": 1_700_000_000_123,
            "id": "post-1",
            "payload": {"album": "Post"},
        },
    }
    ids = {message_id_of(*each) for each in [("ann", "a", "e"), ("ann", "b", "e"), ("ann", "a", "f"), ("bob", "a", "e"), ("ann", "a", "e")]}
    assert len(ids) == 4


def test_the_channel_of_a_task_names_its_webhook() -> None:
    assert webhook_id_of(channel_of("a1")) == "a1"
    assert [webhook_id_of(channel) for channel in ("push", "email", "webhook", "")] == ["", "", "", ""]


@pytest.mark.parametrize(
    "url",
    ["https://app.example.org/hook?a=b", "https://app.example.org:8443", "https://10.1.2.3/", "http://127.0.0.1:9/a", "http://localhost:9"],
)
def test_a_public_name_and_what_the_operator_lists_may_be_called(url: str) -> None:
    assert str(check_url(url, HERE)).startswith(url.rstrip("/"))


@pytest.mark.parametrize(
    "url",
    [
        *("", "app.example.org", "ftp://app.example.org/", "http://app.example.org/", "https://", "https://a b.example.org/"),
        *("https://me:pw@app.example.org/", "https://app.example.org/#x", "https://10.2.0.1/", "https://[::1]/", "http://10.2.0.1/"),
        *(
            "https://192.168.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://intranet/",
            "https://ä.example.org/",
            "https://x:99999/",
        ),
        *(
            "https://169.254.169.254/",
            "https://app.example.org/" + "a" * 2048,
            "https://[",
            "file:///etc/passwd",
            "https://[::ffff:10.2.0.1]/",
        ),
    ],
)
def test_what_is_behind_our_walls_or_in_the_clear_is_refused(url: str) -> None:
    with pytest.raises(Refused) as refused:
        check_url(url, HERE)
    assert refused.value.code.name == "bad-field"


def test_nothing_private_may_be_called_where_nothing_is_listed() -> None:
    for url in ("http://127.0.0.1/", "https://127.0.0.1/", "http://localhost/", "https://localhost/"):
        with pytest.raises(Refused):
            check_url(url, ())
