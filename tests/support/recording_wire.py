"""A wire that goes nowhere and keeps what was sent."""

from collections.abc import Sequence

from infra.kernel.frames import Frame
from infra.runtime.wire.wire import OnFrames, OnLost, WireEnd


class RecordingWire:
    """`queued_bytes` is what the test says."""

    far_end = WireEnd(is_local=True)

    def __init__(self) -> None:
        self.sent: list[Frame] = []
        self.queued_bytes = 0

    def trust(self) -> None:
        raise AssertionError("a link does not vouch for its peer")

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        raise AssertionError("a link does not start its wire")

    def send(self, frames: Sequence[Frame]) -> None:
        self.sent += frames

    def close(self) -> None:
        raise AssertionError("nobody closes this wire")

    abort = close
