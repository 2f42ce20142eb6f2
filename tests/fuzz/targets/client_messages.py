"""What a client says, line by line: each message is done, or refused with a code of the table, and nothing stays behind."""

import random
from typing import Any, Final

from accesspoint.core import AccessPointCore
from accesspoint.options import AccessPointOptions
from accesspoint.session import SessionState
from infra.kernel.errors import Refused
from infra.kernel.frames import View
from infra.runtime.tokens import Identity
from tests.fuzz.target import Ready, outcome
from tests.support.recording_session import RecordingSession, never

OPTIONS: Final = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=["a1"], max_topics=50, max_topics_per_message=20)
MOST_LINES: Final = 20


class _NoLink(list[Any]):
    """A link that keeps what was sent."""

    def send(self, frame: Any) -> None:
        self.append(frame)


class ClientMessages(Ready):
    """The decisions of an access point, for one session with one conversation."""

    seeds = (
        b'{"op":"hello","token":"eve","client":"c1","device":"mobile","user":"eve"}\n{"op":"ping"}',
        b'{"op":"hello","token":"eve"}\n{"op":"subscribe","id":1,"topics":["hm://presence/user/bob/","hm://presence/user/x"],"wait":"all"}\n'
        b'{"op":"unsubscribe","id":"u","topics":["hm://presence/user/bob/"]}',
        b'{"op":"hello","token":"eve"}\n{"op":"act","id":4,"kind":"play","artist":"Portishead"}\n{"op":"last","id":6,"topics":["hm://presence/user/b/"]}',
        b'{"op":"hello","token":"eve"}\n{"op":"pull","id":1,"since":0,"epoch":1,"limit":1}\n{"op":"seen","mark":1}\n{"op":"read","id":2,"mark":1}',
        b'{"op":"hello","token":"eve"}\n{"op":"history","id":1,"topic":"hm://notifications/feed/bjork%new-album/","limit":5}',
        b'{"op":"hello","token":"eve"}\n{"op":"refresh","id":1,"token":"eve"}\n{"op":"refresh","token":"bob"}',
        b'{"op":"hello","token":"eve"}\n{"op":"private","id":1,"on":true,"hours":2}\n{"op":"private","on":false}',
        b'{"op":"hello","token":"eve"}\n{"op":"hello","token":"eve"}\n{"op":"dance"}\n[]\n{',
    )
    words = (
        b'"op":',
        b'"id":',
        b'"topics":',
        b'"hm://notifications/inbox/eve/"',
        b'"hm://playlist/user/a/playlist/b/"',
        b'"wait":"all"',
        b"%friend-joined/",
    )

    def play(self, data: bytes) -> str:
        """Says each line of `data` until the access point ends the session, and then leaves."""
        core = AccessPointCore(OPTIONS, lambda token, wall_s: Identity(token[:128] or "x", 1e12), random.Random(1), never)
        core.announcer.set_view(View(1, ("a1",)))
        core.announcer.node_up("a1", _NoLink())
        session = RecordingSession(core)
        ended = _said(session, data)
        words = [str(message.get("code") or message["op"]) for message in session.messages]
        core.tick(1e9, 0.25)
        core.leave(session, "lost")
        assert (len(core.sessions), core.hub.subscriptions, session.state) == (0, 0, SessionState.ENDED)
        return outcome(*words[-4:], ended)


def _said(session: RecordingSession, data: bytes) -> str:
    """Returns the code with which the session ended, "" where it goes on."""
    # The reader of frames lets no other texts through than those in UTF-8.
    texts = data.decode(errors="replace").encode()
    for number, line in enumerate(texts.split(b"\n")[:MOST_LINES]):
        if session.state is SessionState.ENDED:
            break
        try:
            session.core.receive(session, line, number / 10, number / 10)
        except Refused as refused:
            session.end(refused)
            return refused.code.name
    return ""
