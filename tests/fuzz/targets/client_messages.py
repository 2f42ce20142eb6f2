"""What a client says, line by line: each message is done, or refused with a code of the table, and nothing stays behind."""

import random
from typing import Any, Final

from accesspoint.core import AccessPointCore
from accesspoint.options import AccessPointOptions
from accesspoint.point import write_point
from accesspoint.session import SessionState
from infra.kernel.errors import Refused
from infra.kernel.frames import Keeps, Recall, Recalled, View
from infra.kernel.loss_reasons import LossReason
from infra.runtime.tokens import Identity
from tests.fuzz.target import Ready, outcome
from tests.support.recording_session import RecordingSession, never

OPTIONS: Final = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=["a1"], max_topics=50, max_topics_per_message=20)
MOST_LINES: Final = 20


EPOCH: Final = 1 << 48
POINTS: Final = [(write_point(site, {EPOCH: 7}) or "").encode() for site in ("sto", "lon")]
RECALLED: Final = (
    b'{"op":"event","site":"sto","epoch":281474976710656,"seq":8,"topic":"hm://presence/user/bob/","ts":1,"id":"i","kind":"k"}'
)


class _NoLink(list[Any]):
    """A link that keeps what was sent."""

    def send(self, frame: Any) -> None:
        self.append(frame)

    def answers(self) -> list[Recalled]:
        """Returns what owners answer to the questions that were sent since the last time: one event of every other topic, at times."""
        asked = [frame for frame in self if isinstance(frame, Recall)]
        self.clear()
        return [self._answer(recall) for recall in asked if recall.n % 3]

    def _answer(self, recall: Recall) -> Recalled:
        whole = [number % 2 == 0 for number in range(len(recall.topics))]
        reasons: list[str] = ["" if is_whole else LossReason.EXPIRED for is_whole in whole]
        return Recalled(recall.n, recall.topics, reasons, [int(is_whole) for is_whole in whole], [RECALLED] * sum(whole))


class ClientMessages(Ready):
    """The decisions of an access point, for one session with one conversation."""

    seeds = (
        b'{"op":"hello","token":"eve","client":"c1","device":"mobile","user":"eve"}\n{"op":"ping"}',
        b'{"op":"hello","token":"eve"}\n{"op":"subscribe","id":1,"topics":["hm://presence/user/bob/","hm://presence/user/x"],"wait":"all"}\n'
        b'{"op":"unsubscribe","id":"u","topics":["hm://presence/user/bob/"]}',
        b'{"op":"hello","token":"eve"}\n{"op":"act","id":4,"kind":"play","artist":"Portishead"}\n{"op":"last","id":6,"topics":["hm://presence/user/b/"]}',
        b'{"op":"hello","token":"eve"}\n{"op":"pull","id":1,"since":0,"epoch":1,"limit":1}\n{"op":"seen","mark":1}\n{"op":"read","id":2,"mark":1}',
        b'{"op":"hello","token":"eve"}\n{"op":"list","id":1,"before":9,"epoch":1,"limit":5,"archived":true}\n'
        b'{"op":"change","id":2,"action":"archive","marks":[1,2],"epoch":1}',
        b'{"op":"hello","token":"eve"}\n{"op":"history","id":1,"topic":"hm://notifications/feed/bjork%new-album/","limit":5}',
        b'{"op":"hello","token":"eve"}\n{"op":"refresh","id":1,"token":"eve"}\n{"op":"refresh","token":"bob"}',
        b'{"op":"hello","token":"eve"}\n{"op":"private","id":1,"on":true,"hours":2}\n{"op":"private","on":false}',
        b'{"op":"hello","token":"eve"}\n{"op":"subscribe","id":1,"topics":["hm://presence/user/bob/","hm://presence/user/al/"],"recover":true,'
        b'"point":"%b","since":{"hm://presence/user/bob/":{"sto":[281474976710656,7],"lon":[1,2]}}}\n{"op":"ping","point":true}'
        % POINTS[0],
        b'{"op":"hello","token":"eve"}\n{"op":"subscribe","id":1,"topics":["hm://playlist/user/al/playlist/p1/"],"recover":true,'
        b'"point":"%b"}\n{"op":"unsubscribe","topics":["hm://playlist/user/al/playlist/p1/"]}\n{"op":"ping","point":true}' % POINTS[1],
        b'{"op":"hello","token":"eve"}\n{"op":"hello","token":"eve"}\n{"op":"dance"}\n[]\n{',
    )
    words = (
        b'"op":',
        b'"id":',
        b'"topics":',
        b'"hm://notifications/inbox/eve/"',
        b'"hm://playlist/user/a/playlist/b/"',
        b'"wait":"all"',
        b'"recover":true',
        b'"since":',
        b'"point":true',
        *(b'"point":"%b"' % point for point in POINTS),
        b"%friend-joined/",
    )

    def play(self, data: bytes) -> str:
        """Says each line of `data` until the access point ends the session, and then leaves."""
        core = AccessPointCore(OPTIONS, lambda token, wall_s: Identity(token[:128] or "x", 1e12), random.Random(1), never)
        core.announcer.set_view(View(1, ("a1",)))
        link = _NoLink()
        core.announcer.node_up("a1", link)
        core.keeping.learn(Keeps({"playlist": ("all", 120.0), "user": ("latest", 120.0)}))
        core.recoveries.own.stamps = {EPOCH: 9}
        core.recoveries.fed_by(link)
        session = RecordingSession(core)
        ended = _said(session, data, link)
        words = [str(message.get("code") or message["op"]) for message in session.messages]
        core.tick(1e9, 0.25)
        core.leave(session, "lost")
        assert (len(core.sessions), core.hub.subscriptions, session.state) == (0, 0, SessionState.ENDED)
        assert len(core.recoveries) == 0
        return outcome(*words[-4:], ended)


def _said(session: RecordingSession, data: bytes, link: _NoLink) -> str:
    """Returns the code with which the session ended, "" where it goes on. Owners answer behind each line by way of `link`."""
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
        for answer in link.answers():
            session.core.recoveries.answered(answer, number / 10)
    return ""
