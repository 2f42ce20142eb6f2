"""What presence tells leaves no trace: a whole site runs, and then everything that was stored or sent is searched."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from infra.kernel.topics import format_topic, user_topic
from notification.email import EmailOptions
from notification.options import NotificationOptions
from notification.push import PushOptions
from segue.cluster.role_spec import RoleOptions
from services.social.options import SocialOptions
from tests.support.cluster import Cluster
from tests.support.push_receiver import PushReceiver
from tests.support.smtp import ScriptedSmtp
from tests.support.stored import AT_ONCE, album, me

SECRET_TRACK, OPEN_ALBUM, OPEN_TRACK = "secret-4711", "open-0815", "open-0816"
STORES = {"notification.sqlite", "playlist.sqlite", "social.sqlite"}


def found(folder: Path, text: str) -> set[str]:
    """Returns the files that hold `text`, their logs of writes among them, whatever is free in them, too."""
    return {path.name.removesuffix("-wal") for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()}


def sent(smtp: ScriptedSmtp, receiver: PushReceiver) -> Iterator[str]:
    """Returns all mails, decoded, and all pushes, decrypted."""
    for _, mail in smtp.mails:
        yield "\n".join(f"{name}: {value}" for name, value in mail.items())
        yield from (str(part.get_content()) for part in mail.walk() if not part.is_multipart())
    yield from (push.payload.decode() for push in receiver.pushes)


async def test_no_presence_event_is_found_in_any_store_mail_push_or_wall(tmp_path: Path) -> None:
    """SB-30. What may be stored is found by the same search, so it can find something."""
    state, wall = tmp_path / "state", tmp_path / "wall.jsonl"
    async with ScriptedSmtp() as smtp, PushReceiver() as receiver:
        email = EmailOptions(host="127.0.0.1", port=smtp.port, sender="Segue <notify@example.org>", starttls="never")
        push = PushOptions(contact="mailto:ops@example.org", allow_loopback=True)

        def change(options: RoleOptions) -> RoleOptions:
            match options:
                case NotificationOptions():
                    return msgspec.structs.replace(options, email=email, push=push, patience=AT_ONCE)
                case SocialOptions():
                    return msgspec.structs.replace(options, wall=str(wall))
            return options

        async with Cluster(sites=1, state=state, services=("playlist", "social"), change=change) as c:
            await c.presence_knows()
            device = receiver.subscription()
            keys = {"p256dh": device.p256dh, "auth": device.auth}
            await me(c, "bob", "PUT", "preferences", {"email": "bob@example.org"})
            assert (await me(c, "bob", "POST", "devices", {"endpoint": device.endpoint, "keys": keys}))[0] == 201
            assert (await c.request("bob", "PUT", "social", "/v1/social/friends/ann"))[0] == 200
            assert (await c.request("ann", "PUT", "social", "/v1/social/wall", {"enabled": True}))[0] == 200
            async with c.user("ann") as ann, c.user("cyd") as cyd:
                await cyd.follow("ann")
                for kind in ("play", "pause", "favourite"):
                    assert (await ann.ask("act", kind=kind, track=SECRET_TRACK))["op"] == "ok"
                await cyd.heard(3)
                assert all(event["payload"] == {"track": SECRET_TRACK} for event in cyd.events)
                presence = {"id": "p-1", "topic": format_topic(user_topic("ann")), "kind": "play", "payload": {"track": SECRET_TRACK}}
                for service in ("presence", "playlist", "artist", "social"):
                    assert (await c.notify(presence | {"followers": ["bob"]}, service=service))[0] == 403
                playlist = {"id": "mix", "name": "Mix", "tracks": [OPEN_TRACK]}
                assert (await c.request("ann", "POST", "playlist", "/v1/playlists", playlist))[0] == 201
                assert (await c.notify(album(1, "bob", payload={"artist_name": "bjork", "album": OPEN_ALBUM})))[0] == 202
                await c.until(lambda: sum(OPEN_ALBUM in text for text in sent(smtp, receiver)) >= 2)
                await c.until(lambda: wall.exists() and '"playlist"' in wall.read_text(encoding="utf-8"))
            assert {path.name for path in state.iterdir()} >= STORES
            assert found(state, OPEN_ALBUM) == {"notification.sqlite"}
            assert "playlist.sqlite" in found(state, OPEN_TRACK)
            assert found(tmp_path, SECRET_TRACK) == set()
            assert not any(SECRET_TRACK in text for text in sent(smtp, receiver))
            assert SECRET_TRACK not in str([(recipient, mail.as_bytes()) for recipient, mail in smtp.mails])
        assert found(tmp_path, SECRET_TRACK) == set()
