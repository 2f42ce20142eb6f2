"""Bytes of a peer at a link: frames out, or one refusal; the same in whatever portions they arrive."""

from typing import Final

from infra.kernel.codec import FrameDecoder, encode
from infra.kernel.errors import Refused
from infra.kernel.frames import (
    AnyFrame,
    Call,
    Deliver,
    Heartbeat,
    Hello,
    Keeps,
    Lost,
    Moved,
    Publish,
    Recall,
    Recalled,
    Reply,
    Resume,
    Sealed,
    Subscribe,
    Unsubscribe,
    View,
)
from infra.kernel.topics import Topic
from tests.fuzz.target import Ready, outcome

MAX_FRAME_BYTES: Final = 4_000
NO_VIEW: Final = View(0, ())


class LinkFrames(Ready):
    """The decoder of frames on links."""

    seeds = (
        encode(Hello("accesspoint", "x1", "sto", 1, 1_700_000_000_000, NO_VIEW)),
        encode(Heartbeat(View(3, ("b1", "b2")))) * 2,
        encode(Subscribe(1, [0, 1], [Topic(b"Udan"), Topic(b"Pdan/p1")])) + encode(Unsubscribe(2, [Topic(b"Udan")])),
        encode(Subscribe(3, [0, 1], [Topic(b"Udan"), Topic(b"Pdan/p1")], b"\5\xff")),
        encode(Publish(1, 0, [Topic(b"Udan")], [b"id"], [b'"payload":{}}'])),
        encode(Deliver([0, 1], [b"{}", b"{}"])),
        encode(Resume({1 << 48: 7}, 3)) + encode(Deliver([0], [b"{}"], {1 << 48: 8})),
        encode(Keeps({"playlist": ("all", 120.0), "user": ("latest", 0.5)})) + encode(Lost([Topic(b"Udan")], "owner-lost")),
        encode(Recall(1, [Topic(b"Udan"), Topic(b"Pdan/p1")], {1 << 48: 7}, [[("sto", 1 << 48, 3)], []], rest=True)),
        encode(Recalled(1, [Topic(b"Udan"), Topic(b"Pdan/p1")], ["", "expired"], [2, 0], [b"{}", b"{}"], {1 << 48: 7}, 1 << 48, [7, 0])),
        encode(Moved([Topic(b"Udan")], [(1 << 48, 3)], [[b"id"]])) + encode(Sealed(View(3, ("b1", "b2"), (256, 16), (256, 256)))),
        encode(Call(1, "pull", "eve", "c1", b"{}")) + encode(Reply(1, "", "", b"{}")),
    )
    words = (
        b"\0\0\0\x01",
        b"\0\0\0\x02\x91",
        b"\x91",
        b"\x92",
        b"\xc1",
        b"\xc4\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xdd\xff\xff\xff\xff",
        b"\xdf",
        b"\xcf",
        b"\xd9",
        b"Udan",
    )

    def play(self, data: bytes) -> str:
        """Decodes `data` at once and in pieces. What came out means the same when it is encoded again."""
        found, error = _decoded(data, len(data) or 1)
        bytewise, other = _decoded(data, 3)
        assert error == other, (error, other)
        if not error:
            assert bytewise == found
        for frame in found:
            again, wrong = _decoded(encode(frame), MAX_FRAME_BYTES * 2)
            assert not wrong or len(encode(frame)) > MAX_FRAME_BYTES
            assert wrong or again == [frame] or frame != frame
        return outcome(sorted({type(frame).__name__ for frame in found}), error)


def _decoded(data: bytes, size_bytes: int) -> tuple[list[AnyFrame], str]:
    """Returns the frames in `data`, and the code with which it is refused, "" where it is not."""
    decoder, found = FrameDecoder(MAX_FRAME_BYTES), list[AnyFrame]()
    try:
        for start in range(0, len(data), size_bytes):
            found += decoder.feed(data[start : start + size_bytes])
    except Refused as refused:
        return found, refused.code.name
    return found, ""
